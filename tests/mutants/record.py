"""What came of each fault, kept as the run goes on, so that a run cut short can be resumed."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from pathlib import Path

COLUMNS = (
    *("folder", "path", "line", "before", "after", "outcome", "cpu_seconds"),
    *("operator", "occurrence", "checkout"),
)


def checkout_of(root: Path, names: Iterable[str]) -> str:
    """Name a state of the files that a trial depends on: sources, tests and what both read.

    Parameters
    ----------
    root : Path
    names : iterable of str
        Files, from `root`.
    """
    found = hashlib.sha256()
    for name in sorted(names):
        content = (root / name).read_bytes()
        found.update(f"{name} {len(content)} ".encode() + content)
    return found.hexdigest()[:16]


class Record:
    """Rows of a csv of which those of another checkout are dropped, and any others are kept.

    Parameters
    ----------
    path : Path
        Need not be there.
    checkout : str
        From `checkout_of`.
    """

    def __init__(self, path: Path, checkout: str):
        self.path, self.checkout = path, checkout
        self.rows: dict[tuple, dict] = {}
        if path.exists():
            with open(path, newline="") as file:
                kept = [row for row in csv.DictReader(file) if row.get("checkout") == checkout]
            self.rows = {key_of(row): row for row in kept if None not in row.values()}
        path.parent.mkdir(exist_ok=True)
        self._write("w", [dict(zip(COLUMNS, COLUMNS, strict=True)), *self.rows.values()])

    def add(self, row: dict) -> None:
        """Keep a row, on the disk before anything else is tried."""
        row = {**row, "checkout": self.checkout}
        self.rows[key_of(row)] = row
        self._write("a", [row])

    def _write(self, mode: str, rows: list[dict]) -> None:
        with open(self.path, mode, newline="") as file:
            csv.DictWriter(file, COLUMNS).writerows(rows)


def key_of(row: dict) -> tuple[str, str, str]:
    """What tells one fault of a checkout from all others."""
    return row["path"], row["operator"], str(row["occurrence"])
