"""Break the packages on purpose, one fault at a time, and count what the tests notice.

    python -m tests.mutants.run                      the whole sample
    python -m tests.mutants.run --only isdp/exact    the faults of one folder, or of all below it
    python -m tests.mutants.run --dozen              the twelve of dozen.csv, as CI does

Each fault is put into a copy of the checkout and tried against the tests of its module: those that
import it, and those that bear its name; and where these pass, against all tests of its folder, some
of which reach it by a command. That tests pass without a fault is seen first. A fault that keeps
them from ending in time is counted apart. Survivors must stand in survivors.csv with a word on
each; of the dozen only the equivalent may survive. What came of a fault is kept in
results/mutants.csv, and while no file changes it is not tried again: a run that was cut short goes
on where it stopped.
"""

from __future__ import annotations

import argparse
import ast
import csv
import importlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests import ROOT
from tests.mutants import forks
from tests.mutants.faults import Fault, found_again, sample
from tests.mutants.record import Record, checkout_of, key_of

PACKAGES = ("isdp", "reproduction")
KNOWN = Path(__file__).with_name("survivors.csv")
DOZEN = Path(__file__).with_name("dozen.csv")
OUT = ROOT / "results/mutants.csv"
SHARES = ROOT / "results/mutants_by_folder.csv"
WORKERS = 2
PLACES = ("tests/unit", "tests/statistical", "tests/reproduction")
NOTICED, SURVIVED = "noticed", "survived"
EQUIVALENT = "equivalent"
KINDS = (EQUIVALENT, forks.TIMEOUT, NOTICED, SURVIVED)


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


def run(batches: Iterable[list[Fault]], number: int = WORKERS) -> Iterator[dict]:
    """Try faults side by side, each in a copy of the checkout; yield what came of each.

    Parameters
    ----------
    batches : iterable of list of Fault
        The tests that a batch needs are run without a fault before it.
    number : int
        Of faults at a time.

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
            """Yield each fault with what came of it, and how long that took."""
            needed = {test for fault in faults for test in tests[fault.path]}
            for done in forks.run(
                (forks.Trial(whole, (test,)) for test in sorted(needed - passed)), folder, number
            ):
                if done.outcome != forks.PASSED:
                    raise RuntimeError(f"without a fault:\n{done.log}")
            passed.update(needed)
            yield from ((fault, forks.PASSED, 0.0) for fault in faults if not tests[fault.path])
            tested = [fault for fault in faults if tests[fault.path]]
            trials = (_trial(fault, whole, tuple(tests[fault.path])) for fault in tested)
            for done in forks.run(trials, folder, number):
                yield done.trial.subject, done.outcome, done.took

        for faults in batches:
            own = {fault.path: tests_of(fault.path) for fault in faults}
            others = {path: sorted(set(tests_around(path)) - set(own[path])) for path in own}
            left: dict[Fault, float] = {}
            for fault, outcome, took in tried(faults, own):
                if outcome == forks.PASSED:
                    left[fault] = took
                else:
                    yield _row(fault, outcome, took)
            for fault, outcome, took in tried(list(left), others):
                yield _row(fault, outcome, left[fault] + took)


def _trial(fault: Fault, whole: Path, tests: tuple[str, ...]) -> forks.Trial:
    path = f"src/{fault.path}"
    return forks.Trial(whole, tests, path, fault.applied((ROOT / path).read_text()), fault)


def _row(fault: Fault, outcome: str, took: float) -> dict:
    before, after = fault.change((ROOT / "src" / fault.path).read_text())
    outcome = {forks.PASSED: SURVIVED, forks.FAILED: NOTICED}.get(outcome, outcome)
    return {
        "folder": fault.folder,
        "path": fault.path,
        "line": fault.line,
        "before": before,
        "after": after,
        "outcome": outcome,
        "cpu_seconds": round(took, 1),
        "operator": fault.operator,
        "occurrence": fault.occurrence,
    }


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


def shares(rows: list[dict], known: dict[tuple, dict]) -> list[dict]:
    """Count by folder, and over all: faults, those noticed, and the survivors that change nothing.

    The share is that of the faults that are neither equivalent nor out of time.
    """
    counts: Counter = Counter()
    for row in rows:
        kind = row["outcome"]
        if kind == SURVIVED and known.get(_key(row), {}).get("word") == EQUIVALENT:
            kind = EQUIVALENT
        counts[row["folder"], kind] += 1
        counts["all", kind] += 1
    table = []
    for folder in [*sorted({row["folder"] for row in rows}), "all"]:
        kinds = {kind: counts[folder, kind] for kind in KINDS}
        real = kinds[NOTICED] + kinds[SURVIVED]
        share = f"{kinds[NOTICED] / real:.3f}" if real else ""
        table.append({"folder": folder, "faults": sum(kinds.values()), **kinds, "share": share})
    return table


def report(rows: list[dict], known: dict[tuple, dict], strict: bool = False) -> bool:
    """Print the share noticed by folder, and the survivors that are not accounted for.

    Parameters
    ----------
    rows : list of dict
        From `run`.
    known : dict
        Survivors with a word on each, from `known_survivors`.
    strict : bool
        Whether only an equivalent fault may survive, or every one that has a word.

    Returns
    -------
    bool
        Whether all survivors are accounted for.
    """
    for row in shares(rows, known):
        print(_told(row))
    left = []
    for row in rows:
        word = known.get(_key(row), {}).get("word")
        if row["outcome"] == SURVIVED and word != EQUIVALENT and (strict or word is None):
            left.append(row)
            what = "unnoticed" if strict else "no word on"
            print(f"{what} {row['path']}:{row['line']}: {row['before']}  ->  {row['after']}")
    return not left


def _told(row: dict) -> str:
    """Say the share of a folder in a line."""
    share = f"{float(row['share']):.0%}" if row["share"] else "-"
    return (
        f"{row['folder']:28} {row[NOTICED]:4} of {row[NOTICED] + row[SURVIVED]:4} noticed  "
        f"{share:>5}  ({row[EQUIVALENT]} equivalent, {row[forks.TIMEOUT]} out of time)"
    )


def known_survivors(path: Path = KNOWN) -> dict[tuple, dict]:
    """Read the list of survivors, by path and by the line before and after the edit."""
    with open(path, newline="") as file:
        return {_key(row): row for row in csv.DictReader(file)}


def _key(row: dict) -> tuple[str, str, str]:
    return row["path"], row["before"], row["after"]


def _fault_key(fault: Fault) -> tuple[str, str, str]:
    return key_of(vars(fault))


def _tell_folder(rows: list[dict], known: dict[tuple, dict]) -> None:
    """Print the share of the folder that was last at work."""
    own = [row for row in rows if row["folder"] == rows[-1]["folder"]]
    print(_told(shares(own, known)[0]), flush=True)


def main() -> int:
    """Run the sample, write what came of it, and return 0 where every survivor has a word."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--dozen", action="store_true", help="twelve faults only")
    options.add_argument(
        "--only", metavar="FOLDER", default="", help="faults of one folder, as isdp/exact"
    )
    options.add_argument("--workers", type=int, default=WORKERS, help="faults tried side by side")
    given = options.parse_args()
    if not (ROOT / "src" / given.only).is_dir():
        options.error(f"there is no folder src/{given.only}")
    if given.dozen:
        with open(DOZEN, newline="") as file:
            batches = [[found_again(ROOT / "src", **row) for row in csv.DictReader(file)]]
    else:
        batches = sample(ROOT / "src", given.only)
    read = [name for name in _files() if ROOT / name != KNOWN]
    known, record = known_survivors(), Record(OUT, checkout_of(ROOT, read))
    asked = [_fault_key(fault) for faults in batches for fault in faults]
    rows = [record.rows[key] for key in asked if key in record.rows]
    if rows:
        print(f"{len(rows)} of {len(asked)} were tried before, on the very same files", flush=True)
    batches = [[f for f in faults if _fault_key(f) not in record.rows] for faults in batches]
    taken = len(rows)
    for row in run(batches, given.workers):
        if not given.dozen and len(rows) > taken and rows[-1]["folder"] != row["folder"]:
            _tell_folder(rows, known)
        record.add(row)
        rows.append(row)
        print(
            f"{len(rows):3} of {len(asked)}  {row['outcome']:8} {row['cpu_seconds']:4.0f} s  "
            f"{row['path']}:{row['line']}  {row['after']}",
            flush=True,
        )
    if not given.dozen:
        survivors = {_key(row) for row in rows if row["outcome"] == SURVIVED}
        for path, before, after in sorted(known.keys() - survivors):
            if path.startswith(given.only):
                print(f"no survivor any more: {path}: {before}  ->  {after}")
    table = shares(rows, known)
    with open(SHARES, "w", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
    return 0 if report(rows, known, strict=given.dozen) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # trials end too
    sys.exit(main())
