"""Library modules as inputs of rules, so that an edited module reruns what depends on it."""

import ast
from functools import cache
from pathlib import Path


def library_of(script: Path, source: Path) -> list[str]:
    """Source files of every library module that a script imports, directly or through others.

    A package within the library counts as a whole.

    Parameters
    ----------
    script : Path
    source : Path
        Folder of the package `isdp`.

    Returns
    -------
    list of str
    """
    found: set[Path] = set()
    waiting = [script, source / "__init__.py"]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for name in _imported(path):
            module, package = source / f"{name}.py", source / name
            waiting += [module] if module.is_file() else package.glob("*.py")
    return sorted(str(path) for path in found - {script})


@cache
def _imported(path: Path) -> frozenset[str]:
    """Names that a file imports from the library; each file is parsed once a run."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = node.module.split(".")
            if parts[0] == "isdp":
                names.update(parts[1:2] or [alias.name for alias in node.names])
    return frozenset(names)
