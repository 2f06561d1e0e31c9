"""Break one package on purpose, one fault at a time, and list what its tests do not notice.

    python -m tests.mutants.run isdp/exact --faults 40

Each fault is put into a copy of the checkout, in which the tests of the module's folder run: first
those that name the module. The tests run without a fault before. A fault that keeps them from
ending in time is counted apart.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests import ROOT
from tests.compiled_code import give_compiled
from tests.mutants.faults import Fault, sample

WORKERS = 2
LIMITS = "ulimit -v 6291456 -t 600"  # KiB of addresses, and seconds of processor time
PATIENCE = 1800  # seconds on the clock, for a test that waits and never ends
COMPILED = ".compiled"  # folder for compiled code, in each checkout
PASSED, NOTICED, UNNOTICED, TIMEOUT = "passed", "noticed", "unnoticed", "timeout"


def tests_of(module: str) -> list[str]:
    """Test files of the folder that mirrors a module's; first those that name the module."""
    package, folder = Path(module).parts[:2]
    mirror = ROOT / ("tests/unit" if package == "isdp" else "tests/reproduction") / folder
    dotted, name = module.removesuffix(".py").replace("/", "."), f"test_{Path(module).stem}"
    files = sorted(mirror.rglob("test_*.py"))
    if package == "isdp":
        statistical = sorted((ROOT / "tests/statistical").glob("test_*.py"))
        files += [path for path in statistical if f"isdp.{folder}" in path.read_text()]
    files.sort(key=lambda path: path.stem != name and dotted not in path.read_text())
    return [str(path.relative_to(ROOT)) for path in files]


def run_tests(checkout: Path, tests: list[str]) -> str:
    """Run tests in a checkout, with limits; return PASSED, NOTICED or TIMEOUT."""
    environment = os.environ | {
        "PYTHONPATH": str(checkout / "src"),
        "NUMBA_CACHE_DIR": str(checkout / COMPILED),
        "XDG_CACHE_HOME": str(checkout / ".cache"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            ["sh", "-c", f'{LIMITS}; exec "$@"', "sh", *pytest, "--basetemp=.tmp", *tests],
            cwd=checkout,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return TIMEOUT
    if done.returncode < 0:  # a signal: the processor time is used up
        return TIMEOUT
    return NOTICED if done.returncode else PASSED


def outcome_of(fault: Fault, whole: Path) -> str:
    """Put a fault into a copy of the checkout and run the tests of its module."""
    with tempfile.TemporaryDirectory(dir=whole.parent) as name:
        checkout = Path(name).resolve() / "checkout"
        shutil.copytree(whole, checkout, ignore=shutil.ignore_patterns(COMPILED, ".tmp"))
        text = fault.applied((whole / "src" / fault.path).read_text())
        (checkout / "src" / fault.path).write_text(text)
        if "njit" not in text:  # the compiled code of the whole checkout still holds
            for kept in (whole / COMPILED).glob("*"):
                given = checkout / COMPILED / kept.name
                give_compiled(whole / "src", kept, checkout / "src", given)
        outcome = run_tests(checkout, tests_of(fault.path))
    return UNNOTICED if outcome == PASSED else outcome


def copy_to(folder: Path) -> Path:
    """Copy the files of the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
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
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(given.workers) as workers:
        whole = copy_to(Path(name).resolve() / "whole")
        tests = sorted({test for fault in faults for test in tests_of(fault.path)})
        if run_tests(whole, tests) != PASSED:
            sys.exit("the tests fail without a fault, and would notice whatever there is")
        outcomes = workers.map(lambda fault: outcome_of(fault, whole), faults)
        for number, (fault, outcome) in enumerate(zip(faults, outcomes, strict=True), start=1):
            counts[outcome] += 1
            place = f"{fault.path}:{fault.line}"
            print(f"{number:3} of {len(faults)}  {outcome:10} {place}", flush=True)
            if outcome == UNNOTICED:
                print(*fault.change((ROOT / "src" / fault.path).read_text()), sep="\n", flush=True)
    real = counts[NOTICED] + counts[UNNOTICED]
    print(f"{given.package}: {counts[NOTICED]} of {real} noticed, {counts[TIMEOUT]} out of time")
    return 1 if counts[UNNOTICED] else 0


if __name__ == "__main__":
    sys.exit(main())
