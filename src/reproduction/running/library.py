"""What a rule needs of both packages: an edited module reruns what depends on it."""

import ast
import hashlib
import re
from functools import cache
from pathlib import Path

# the formatter puts each import on a line of its own, or in parentheses
LINE = re.compile(
    r"^[ \t]*((?:from[ \t]+\S+[ \t]+import|import)[ \t]+(?:\([^)]*\)|[^(\n]*))", re.MULTILINE
)


def library_of(script: Path, source: Path) -> list[str]:
    """Source files of every module that a script imports, directly or through others.

    A name that a package hands on counts as the module that defines it, and the package's
    `__init__` beside it; the rest of the package does not.

    Parameters
    ----------
    script : Path
    source : Path
        Folder of the packages.

    Returns
    -------
    list of str
    """
    found: set[str] = set()
    waiting = [str(script)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _needed_by(path, source)
    return sorted(found - {str(script)})


def digest_of(files: list[str], source: Path) -> str:
    """Digest of the text of some files and of where they lie in the folder of the packages."""
    parts = [f"{Path(file).relative_to(source)}\0{_digest(file)}" for file in sorted(files)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def _digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


@cache
def _needed_by(path: str, source: Path) -> set[str]:
    """Files behind the imports of one file; a package's `__init__` needs nothing by itself."""
    if Path(path).name == "__init__.py":
        return set()
    imports = _imports(Path(path))
    return {str(file) for module, name in imports for file in _files(source, module, name)}


@cache
def _files(source: Path, module: str, name: str) -> list[Path]:
    """Find the file that defines `name` of `module`, and every `__init__` on the way to it."""
    folder = source.joinpath(*module.split("."))
    inits = _inits(folder, source)
    if folder.with_suffix(".py").is_file():
        return [*inits, folder.with_suffix(".py")]
    if not inits:
        return []
    if (folder / f"{name}.py").is_file():
        return [*inits, folder / f"{name}.py"]
    if name and (folder / name).is_dir():  # a package as a whole, whatever of it is used
        return _files(source, f"{module}.{name}", "")
    return inits + [
        file
        for home, original in _handed_on(folder / "__init__.py", name)
        for file in _files(source, home, original)
    ]


@cache
def _inits(folder: Path, source: Path) -> list[Path]:
    """Find the `__init__` of a package and of all that it lies in."""
    return [
        parent / "__init__.py"
        for parent in (folder, *folder.parents)
        if source in parent.parents and (parent / "__init__.py").is_file()
    ]


def _handed_on(init: Path, name: str) -> list[tuple[str, str]]:
    """Find the module and name from which a package's `__init__` takes a name of its own.

    A name is taken by an import, or loaded when first used: the table `_HOMES` of the top level.
    A package imported whole hands on all that it takes.
    """
    taken = {own: (module, name) for module, name, own in _named_imports(init)} | _homes(init)
    if name:
        return [taken[name]] if name in taken else []
    return list(taken.values())


def _homes(init: Path) -> dict[str, tuple[str, str]]:
    """Read the table of names that load when first used, of the package that has one."""
    text = init.read_text()
    for node in ast.parse(text).body if "_HOMES" in text else ():
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOMES":
            return {name: (home, name) for name, home in ast.literal_eval(node.value).items()}
    return {}


@cache
def _statements(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """List the imports of a file, wherever they stand in it.

    Lines that look like imports are parsed alone, which takes a tenth of the time of a whole file;
    a file with such a line that is none, in a docstring say, is parsed whole.
    """
    text = path.read_text()
    try:
        found = [node for line in LINE.findall(text) for node in ast.parse(line).body]
    except SyntaxError:
        found = ast.walk(ast.parse(text))
    return tuple(node for node in found if isinstance(node, ast.Import | ast.ImportFrom))


@cache
def _named_imports(path: Path) -> tuple[tuple[str, str, str], ...]:
    """List module, name and own name of each import of a name, wherever it stands in the file."""
    return tuple(
        (node.module, alias.name, alias.asname or alias.name)
        for node in _statements(path)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    )


@cache
def _imports(path: Path) -> frozenset[tuple[str, str]]:
    """List module and name of every import; a module imported whole has no name."""
    whole = {
        (alias.name, "")
        for node in _statements(path)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    return frozenset(whole | {(module, name) for module, name, _ in _named_imports(path)})


def defining_files(script: Path, source: Path) -> set[str]:
    """Source files of the modules that a file imports directly."""
    return {
        str(file)
        for module, name in _imports(script)
        for file in _files(source, module, name)
        if file.name != "__init__.py"
    }
