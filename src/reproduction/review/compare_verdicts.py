"""Comparison of the verdicts of a run with the list of expected verdicts.

Usage: python -m reproduction.review.compare_verdicts RESULTS EXPECTED
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from isdp.errors import InputError
from isdp.io.files import read_json
from reproduction.jobs.tables import read_text


def compare_verdicts(found: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    """List the claims whose verdicts differ, and the claims that one side lacks."""
    lines = []
    for name in {**expected, **found}:
        have, want = found.get(name, "missing"), expected.get(name, "missing")
        if have != want:
            lines.append(f"{name}: the verdict is {have}, and {want} is expected")
    return lines


def main(results: Path, expected: Path) -> int:
    """Print the differences, and return 1 if there are any."""
    path = results / "claims.json"
    for each in (path, expected):
        if not each.is_file():
            raise InputError(f"{each}: no such file. Run `snakemake --cores all` first.")
    found = {each["claim"]: each["verdict"] for each in read_json(path)["claims"]}
    listed = read_text(expected).set_index("claim")["verdict"].to_dict()
    lines = compare_verdicts(found, listed)
    print("\n".join(lines) or f"All {len(found)} verdicts are as listed in {expected}.")
    return bool(lines)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
    except InputError as error:
        sys.exit(f"error: {error}")
