"""Break one package on purpose, one fault at a time, and list what its tests do not notice.

    python -m tests.mutants.run isdp/exact --faults 40

Each fault is put into a copy of the checkout and tried against the tests of its module: those that
import it, and those that bear its name; and where these pass, against all tests of its folder, some
of which reach it by a command. That tests pass without a fault is seen first. A fault that keeps
them from ending in time is counted apart.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests import ROOT
from tests.mutants import forks
from tests.mutants.faults import Fault, sample

PACKAGES = ("isdp", "reproduction")
WORKERS = 2
PLACES = ("tests/unit", "tests/statistical", "tests/reproduction")
NOTICED, UNNOTICED = "noticed", "unnoticed"
OUTCOMES = {
    forks.PASSED: UNNOTICED,
    forks.FAILED: NOTICED,
    forks.TIMEOUT: forks.TIMEOUT,
}


def tests_of(module: str) -> list[str]:
    """Test files that import a module or bear its name, or else import what imports it.

    Where some of them lie in the folder that mirrors the module's, those elsewhere are left out,
    but for the statistical ones: all tests import the invariants.
    """
    wanted, seen = {str(ROOT / "src" / module)}, set()
    files = sorted(path for place in PLACES for path in (ROOT / place).rglob("test_*.py"))
    while wanted - seen:
        found = [path for path in files if _names(path, wanted) or _imports(path) & wanted]
        if found:
            folder = module.split("/")[1]
            near = [path for path in found if folder in path.parts]
            kept = [
                path for path in found if not near or path in near or "statistical" in path.parts
            ]
            return [
                str(path.relative_to(ROOT)) for path in sorted(kept, key=lambda x: x not in near)
            ]
        seen |= wanted
        sources = (ROOT / "src").rglob("*.py")
        wanted = wanted | {str(path) for path in sources if _imports(path) & wanted}
    return []


def tests_around(module: str) -> list[str]:
    """Test files in the folder that mirrors a module's, and below it."""
    package, folder = Path(module).parts[:2]
    mirror = ROOT / ("tests/unit" if package == "isdp" else "tests/reproduction") / folder
    return [str(path.relative_to(ROOT)) for path in sorted(mirror.rglob("test_*.py"))]


@cache
def _imports(path: Path) -> set[str]:
    """Source files that define what a file imports; a package's `__init__` defines nothing."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "", alias.name) for alias in node.names]
        else:
            continue
        found |= {_defining(*each) for each in names if each[0].split(".")[0] in PACKAGES}
    return {file for file in found if Path(file).name != "__init__.py"}


def _defining(module: str, name: str) -> str:
    """Source file that defines a name of a module, or the module itself."""
    folder = ROOT / "src" / Path(*module.split("."))
    if name and (folder / f"{name}.py").is_file():
        return str(folder / f"{name}.py")
    taken = getattr(importlib.import_module(module), name, None)
    origin = getattr(taken, "__module__", None) or module
    home = origin if origin.split(".")[0] in PACKAGES else module
    return str(importlib.import_module(home).__file__)


def _names(test: Path, sources: set[str]) -> bool:
    """Whether a test file bears the name of a source file, in a folder of the same name."""
    places = {(Path(source).parent.name, f"test_{Path(source).stem}") for source in sources}
    return (test.parent.name, test.stem) in places


def run(faults: list[Fault], number: int = WORKERS) -> Iterator[tuple[Fault, str]]:
    """Try faults, a number at a time, each in a copy of the checkout; yield what came of each.

    Raises
    ------
    RuntimeError
        If tests fail without a fault: they would notice whatever there is.
    """
    passed: set[str] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        whole = _copy(folder / "whole")

        def tried(faults: list[Fault], tests: dict[str, list[str]]) -> Iterator[tuple]:
            """Yield each fault with what came of it."""
            needed = {test for fault in faults for test in tests[fault.path]}
            for done in forks.run(
                (forks.Trial(whole, (test,)) for test in sorted(needed - passed)), folder, number
            ):
                if done.outcome != forks.PASSED:
                    raise RuntimeError(f"without a fault:\n{done.log}")
            passed.update(needed)
            yield from ((fault, forks.PASSED) for fault in faults if not tests[fault.path])
            tested = [fault for fault in faults if tests[fault.path]]
            trials = (_trial(fault, whole, tuple(tests[fault.path])) for fault in tested)
            for done in forks.run(trials, folder, number):
                yield done.trial.subject, done.outcome

        own = {fault.path: tests_of(fault.path) for fault in faults}
        others = {path: sorted(set(tests_around(path)) - set(own[path])) for path in own}
        left = []
        for fault, outcome in tried(faults, own):
            if outcome == forks.PASSED:
                left.append(fault)
            else:
                yield fault, OUTCOMES[outcome]
        for fault, outcome in tried(left, others):
            yield fault, OUTCOMES[outcome]


def _trial(fault: Fault, whole: Path, tests: tuple[str, ...]) -> forks.Trial:
    path = f"src/{fault.path}"
    return forks.Trial(whole, tests, path, fault.applied((ROOT / path).read_text()), fault)


def _files() -> list[str]:
    """Files of the checkout, from its folder."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def _copy(folder: Path) -> Path:
    for name in _files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def main() -> int:
    """Run a sample, print what came of it, and return 0 where every fault is noticed."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("package", help="a folder of src, such as isdp/exact")
    options.add_argument("--faults", type=int, default=50, help="how many, at most (50)")
    options.add_argument("--workers", type=int, default=WORKERS, help="faults tried side by side")
    given = options.parse_args()
    if not (ROOT / "src" / given.package).is_dir():
        options.error(f"there is no folder src/{given.package}")
    faults, counts = sample(ROOT / "src", given.package, given.faults), Counter()
    for number, (fault, outcome) in enumerate(run(faults, given.workers), start=1):
        counts[outcome] += 1
        before, after = fault.change((ROOT / "src" / fault.path).read_text())
        print(f"{number:3} of {len(faults)}  {outcome:10} {fault.path}:{fault.line}", flush=True)
        if outcome == UNNOTICED:
            print(f"    {before}\n    {after}", flush=True)
    real = counts[NOTICED] + counts[UNNOTICED]
    print(
        f"{given.package}: {counts[NOTICED]} of {real} noticed, {counts[forks.TIMEOUT]} out of time"
    )
    return 1 if counts[UNNOTICED] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # trials end too
    sys.exit(main())
