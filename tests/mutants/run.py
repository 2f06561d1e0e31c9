"""Break the packages on purpose, one fault at a time, and count what the tests notice.

    python -m tests.mutants.run            the whole sample
    python -m tests.mutants.run --dozen    twelve of it, as CI does

Each fault is put into a copy of the checkout and tried against the tests of its module: those that
import it, and those that bear its name. Survivors must stand in survivors.csv with a word on each.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from reproduction.running.library import defining_files
from tests import ROOT
from tests.mutants.faults import Fault, sample

KNOWN = Path(__file__).with_name("survivors.csv")
OUT = ROOT / "results/mutants.csv"
LONGEST = 240  # seconds; tests that hang on a fault have noticed it
WORKERS = 2
DOZEN = 12
PLACES = ("tests/unit", "tests/statistical", "tests/reproduction")
NOTICED, SURVIVED = "noticed", "survived"


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


def _imports(path: Path) -> set[str]:
    return defining_files(path, ROOT / "src")


def _names(test: Path, sources: set[str]) -> bool:
    """Whether a test file bears the name of a source file, in a folder of the same name."""
    places = {(Path(source).parent.name, f"test_{Path(source).stem}") for source in sources}
    return (test.parent.name, test.stem) in places


def outcome_of(fault: Fault, checkout: Path) -> str:
    """Whether the tests of its module notice a fault."""
    file = checkout / "src" / fault.path
    whole = file.read_text()
    tests = tests_of(fault.path)
    if not tests:
        return SURVIVED
    try:
        file.write_text(fault.applied(whole))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        done = subprocess.run(
            command, cwd=checkout, env=_environment(checkout), capture_output=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return NOTICED
    finally:
        file.write_text(whole)
    if done.returncode not in (0, 1, 2):  # passed, failed, could not even be imported
        raise RuntimeError(done.stdout.decode() + done.stderr.decode())
    return SURVIVED if done.returncode == 0 else NOTICED


def _environment(checkout: Path) -> dict[str, str]:
    """The tests' own environment: without the tool, and with the sources of the copy."""
    return os.environ | {"PYTHONPATH": str(checkout / "src")}


def run(faults: list[Fault]) -> list[dict]:
    """Try faults side by side, each worker in a copy of the checkout."""
    with tempfile.TemporaryDirectory() as folder:
        copies: Queue[Path] = Queue()
        for number in range(WORKERS):
            copies.put(_copy(Path(folder) / str(number)))

        def tried(fault: Fault) -> dict:
            copy, began = copies.get(), time.monotonic()
            try:
                outcome = outcome_of(fault, copy)
            finally:
                copies.put(copy)
            before, after = fault.change((ROOT / "src" / fault.path).read_text())
            took = time.monotonic() - began
            print(f"{outcome:8} {took:4.0f} s  {fault.path}:{fault.line}  {after}", flush=True)
            return {
                "folder": fault.folder,
                "path": fault.path,
                "line": fault.line,
                "before": before,
                "after": after,
                "outcome": outcome,
            }

        with ThreadPoolExecutor(WORKERS) as workers:
            return list(workers.map(tried, faults))


def _copy(folder: Path) -> Path:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def report(rows: list[dict]) -> bool:
    """Print the share noticed by folder, and the survivors; whether all of them are known."""
    known = {}
    if KNOWN.is_file():
        with open(KNOWN, newline="") as file:
            known = {
                (row["path"], row["before"], row["after"]): row for row in csv.DictReader(file)
            }
    counts = Counter((row["folder"], row["outcome"]) for row in rows)
    equal = Counter(
        row["folder"]
        for row in rows
        if row["outcome"] == SURVIVED and known.get(_key(row), {}).get("word") == "equivalent"
    )
    for folder in sorted({row["folder"] for row in rows}):
        noticed, survived = counts[folder, NOTICED], counts[folder, SURVIVED]
        real = noticed + survived - equal[folder]
        share = f"{noticed / real:.0%}" if real else "-"
        print(
            f"{folder:28} {noticed:4} of {real:4} noticed  {share:>5}  ({equal[folder]} equivalent)"
        )
    real = len(rows) - sum(equal.values())
    print(f"all: {sum(row['outcome'] == NOTICED for row in rows)} of {real} noticed")
    unknown = [row for row in rows if row["outcome"] == SURVIVED and _key(row) not in known]
    for row in unknown:
        print(f"no word on {row['path']}:{row['line']}: {row['before']}  ->  {row['after']}")
    return not unknown


def _key(row: dict) -> tuple[str, str, str]:
    return row["path"], row["before"], row["after"]


def main() -> int:
    """Run the sample and return 0 where every survivor has a word."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--dozen", action="store_true", help="twelve faults only")
    options.add_argument("--only", metavar="FOLDER", help="faults of one folder, as isdp/exact")
    given = options.parse_args()
    faults = sample(ROOT / "src")
    if given.only:
        faults = [fault for fault in faults if fault.folder == given.only]
    if given.dozen:
        faults = faults[:: max(1, len(faults) // DOZEN)][:DOZEN]
    rows = run(faults)
    OUT.parent.mkdir(exist_ok=True)
    with open(OUT, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return 0 if report(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
