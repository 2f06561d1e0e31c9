"""Break one package on purpose, one fault at a time, and list what its tests do not notice.

    python -m tests.mutants.run isdp/exact --faults 40

cosmic-ray puts a fixed sample of its faults into a copy of the checkout, one after another, and
runs the tests of the package's folder on each. The copy is of the last commit.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cosmic_ray.commands.execute import execute
from cosmic_ray.commands.init import init
from cosmic_ray.config import ConfigDict
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

from tests import ROOT

SEED = 20221201
PATIENCE = 1800.0  # seconds for the tests of one fault
# A bit operation in place of a sum, or `is` in place of `==`, ends in a TypeError, seen at once.
_ARITHMETIC = "(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)"
_COMPARISON = "(Eq|NotEq|Lt|LtE|Gt|GtE)"
_KINDS = re.compile(
    rf"core/(NumberReplacer|AddNot|ReplaceAndWithOr|ReplaceOrWithAnd|ReplaceTrueWithFalse"
    rf"|ReplaceFalseWithTrue|ReplaceUnaryOperator_(USub_UAdd|Delete_Not)"
    rf"|ReplaceBinaryOperator_{_ARITHMETIC}_{_ARITHMETIC}"
    rf"|ReplaceComparisonOperator_{_COMPARISON}_{_COMPARISON})"
)


def _find_tests(package: str) -> list[str]:
    """Return the folder that mirrors a package's, and the statistical tests that name it."""
    top, folder = Path(package).parts[:2]
    if top == "reproduction":
        return [f"tests/reproduction/{folder}"]
    statistical = [*Path("tests/statistical").glob("test_*.py")]
    named = sorted(str(path) for path in statistical if f"isdp.{folder}" in path.read_text())
    return [f"tests/unit/{folder}", *named]


def main() -> int:
    """Run a sample, print each fault that is not noticed, and return 0 where there is none."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("package", help="a folder of src, such as isdp/exact")
    options.add_argument("--faults", type=int, default=50, help="how many, at most (50)")
    given = options.parse_args()
    if not (ROOT / "src" / given.package).is_dir():
        options.error(f"there is no folder src/{given.package}")
    with tempfile.TemporaryDirectory() as name:
        checkout = Path(name).resolve() / "checkout"
        subprocess.run(["git", "clone", "--quiet", ROOT, checkout], check=True)
        os.chdir(checkout)
        os.environ["PYTHONPATH"] = str(checkout / "src")
        os.environ["NUMBA_CACHE_DIR"] = str(checkout / ".compiled")
        tests = [sys.executable, "-m", "pytest", "-x", "-q", *_find_tests(given.package)]
        subprocess.run(tests, check=True)  # without a fault, which also compiles the code
        with use_db("session.sqlite", WorkDB.Mode.create) as faults:
            files = sorted(Path("src", given.package).rglob("*.py"))
            init(files, faults, {})
            return _try_sample(faults, given.faults, " ".join(tests))


def _try_sample(faults: WorkDB, number: int, command: str) -> int:
    items = [
        item
        for item in faults.pending_work_items
        if _KINDS.fullmatch(item.mutations[0].operator_name)
    ]
    drawn = random.Random(SEED).sample(items, min(number, len(items)))
    left = {item.job_id for item in faults.pending_work_items} - {item.job_id for item in drawn}
    faults.set_multiple_results(left, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    settings = {"test-command": command, "timeout": PATIENCE, "distributor": {"name": "local"}}
    execute(faults, ConfigDict(settings))
    results = [result for _, result in faults.results if result.test_outcome]
    missed = [each for each in results if each.test_outcome == TestOutcome.SURVIVED]
    for each in missed:
        print(each.diff)
    print(f"{len(results) - len(missed)} of {len(results)} noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
