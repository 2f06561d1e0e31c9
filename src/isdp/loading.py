"""Names and modules that load when they are first used, so that importing a package is cheap."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec


def when_first_used(
    package: str, homes: Mapping[str, str], packages: Iterable[str] = ()
) -> tuple[Callable, Callable]:
    """Give a package its `__getattr__` and `__dir__`.

    Parameters
    ----------
    package : str
        Its `__name__`.
    homes : mapping
        From each name that it hands on to the module that defines it. It is called `_HOMES` there:
        what looks for a job's modules reads the table in the source.
    packages : iterable of str, optional
        Sub-packages that are handed on whole.
    """
    packages = tuple(packages)

    def load(name: str):
        if name in homes:
            return getattr(import_module(homes[name]), name)
        if name in packages:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*vars(import_module(package)), *homes, *packages})

    return load, names


def postpone(*modules: str) -> None:
    """Have some modules load when something of them is first used, not when they are imported.

    Those that are loaded already stay as they are.
    """
    for name in modules:
        if name in sys.modules:
            continue
        spec = find_spec(name)
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        parent, _, own = name.rpartition(".")
        setattr(sys.modules[parent], own, module)
