"""API documentation from the docstrings: `make docs` writes docs/api/index.html."""

import importlib
import pkgutil
import sys
import warnings
from pathlib import Path
from typing import get_type_hints

import pdoc

import isdp


def resolve_named_tuples(module) -> None:
    """Turn the annotations of named tuples into types; pdoc cannot see where they are from."""
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            kind.__new__.__annotations__ = get_type_hints(kind)


def main(folder: Path) -> None:
    """Write a page for the library and each of its modules; a warning is an error."""
    found = pkgutil.walk_packages(isdp.__path__, "isdp.")
    # named one by one: `__all__` would hide them behind the package's own names
    modules = ["isdp", *(module.name for module in found if module.name != "isdp.__main__")]
    for name in modules:
        resolve_named_tuples(importlib.import_module(name))
    warnings.simplefilter("error")
    pdoc.render.configure(docformat="numpy", footer_text="Integer noise under exact invariants")
    pdoc.pdoc(*modules, output_directory=folder)
    print(f"API documentation: {folder / 'index.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
