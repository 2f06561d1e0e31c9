"""What moved between the tables of two runs, as Markdown.

    python -m reproduction.running.compare_tables OLD NEW [--renamed old=new ...]

OLD and NEW are results folders. Compared are tables/*.csv and figures/*.csv, row by row. A column
that was renamed on purpose is compared with what it is called now.
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

KINDS = ("tables", "figures")
ROUNDING = 1e-9  # relative changes up to this are taken for another machine's rounding
LONGEST = 150  # lines of the list of columns; the rest is counted
NTH = "nth row of its name"


@dataclass
class Moved:
    """What moved in one table.

    Attributes
    ----------
    columns : list of dict
        One for each column that changed: `column`, `rows`, `change`, `relative`, `where`.
    verdicts : list of str
        Verdicts that flipped.
    notes : list of str
        Rows and columns that are new or gone.
    """

    columns: list[dict] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __bool__(self):
        return bool(self.columns or self.notes)


def read(path: Path) -> pd.DataFrame:
    """Read a table as the text that stands there."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def numbers(column: pd.Series) -> pd.Series | None:
    """Turn a column of text into floats, blanks being nan; None if it holds anything else."""
    values = pd.to_numeric(column.replace("", "nan"), errors="coerce")
    odd = values.isna() & ~column.str.lower().isin(["", "nan"])
    return None if odd.any() else values.astype(float)


def key_columns(old: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """Find the columns that name a row in both tables.

    Columns are taken, text first, as long as they tell more rows apart. A column of numbers counts
    only if both tables hold the same ones: otherwise it is a result, not a name.
    """
    shared = [name for name in old if name in new]
    text, numeric = [], []
    for name in shared:
        before, after = set(old[name]), set(new[name])
        if before | after <= {"True", "False"}:
            continue
        if numbers(old[name]) is None or numbers(new[name]) is None:
            if before <= after or after <= before:
                text.append(name)
        elif before == after:
            numeric.append(name)
    keys: list[str] = []
    apart = (1, 1)
    for name in text + numeric:
        wider = tuple(len(table.groupby([*keys, name])) for table in (old, new))
        if wider > apart:
            keys, apart = [*keys, name], wider
        if apart == (len(old), len(new)):
            break
    return keys


def numbered(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Index the rows by their names; rows of one name are told apart by their order."""
    nth = table.groupby(keys).cumcount() if keys else pd.Series(range(len(table)), table.index)
    return table.assign(**{NTH: nth}).set_index([*keys, NTH])


def compare(old: pd.DataFrame, new: pd.DataFrame) -> Moved:
    """Compare two tables, as `read` returns them."""
    moved = Moved()
    for words, names in (
        ("new", [name for name in new if name not in old]),
        ("gone", [name for name in old if name not in new]),
    ):
        if names:
            moved.notes.append(f"columns {words}: {', '.join(names)}")
    keys = key_columns(old, new)
    old, new = numbered(old, keys), numbered(new, keys)
    for words, rows in (
        ("new", new.index.difference(old.index, sort=False)),
        ("gone", old.index.difference(new.index, sort=False)),
    ):
        if len(rows):
            moved.notes.append(f"{len(rows)} row{'s' * (len(rows) > 1)} {words}")
    both = new.index.intersection(old.index, sort=False)
    old, new = old.loc[both], new.loc[both]
    for name in [name for name in new if name in old]:
        change = changed(old[name], new[name])
        if change:
            moved.columns.append({"column": name, **change})
    if "verdict" in old and "verdict" in new:
        for i in np.flatnonzero(old["verdict"].to_numpy() != new["verdict"].to_numpy()):
            was, now = old.iloc[i], new.iloc[i]
            words = f"{label(both[i])}: {was['verdict']} → **{now['verdict']}**"
            if "our_value" in old and "our_value" in new:
                words += f" ({short(was['our_value'])} → {short(now['our_value'])})"
            moved.verdicts.append(words)
    return moved


def changed(old: pd.Series, new: pd.Series) -> dict | None:
    """Describe how many values changed, and the largest change; None if none did."""
    before, after = numbers(old), numbers(new)
    if before is None or after is None:
        differ = np.flatnonzero(old.to_numpy() != new.to_numpy())
        if not len(differ):
            return None
        first = differ[0]
        shown = f"{short(old.iloc[first])} → {short(new.iloc[first])}"
        return {
            "rows": len(differ),
            "change": shown,
            "relative": "",
            "where": label(old.index[first]),
        }
    a, b = before.to_numpy(), after.to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(b - a))
        gap[np.isnan(gap)] = np.inf  # a number came or went
        size = np.maximum(np.abs(a), np.abs(b))
        gap[(gap <= ROUNDING * size) & np.isfinite(gap)] = 0.0
        relative = np.where(gap > 0, gap / np.abs(a), 0.0)
    differ = np.flatnonzero(gap)
    if not len(differ):
        return None
    most = int(np.argmax(gap))
    share = relative[np.isfinite(relative)].max(initial=0.0)
    return {
        "rows": len(differ),
        "change": f"{short(old.iloc[most])} → {short(new.iloc[most])}",
        "relative": f"{share:.2g}" if share else "",
        "where": label(old.index[most]),
    }


def short(value: str) -> str:
    """Shorten a value for people: six digits, or the first words; a bar would end the cell."""
    number = numbers(pd.Series([value]))
    if not value:
        return "(blank)"
    if number is not None and not number.isna().any():
        return f"{number[0]:.6g}"
    value = value if len(value) <= 60 else value[:57] + "..."
    return value.replace("|", "\\|").replace("\n", " ")


def label(row) -> str:
    """Name a row for people."""
    *names, nth = row if isinstance(row, tuple) else (row,)
    words = ", ".join(short(str(name)) for name in names)
    return f"{words} ({nth + 1})" if nth or not names else words


def with_new_names(old: pd.DataFrame, new: pd.DataFrame, renamed: Mapping[str, str]):
    """Give the old table's columns the names that the new table has for them."""
    known = {was: now for was, now in renamed.items() if was not in new and now not in old}
    return old.rename(columns={was: now for was, now in known.items() if now in new})


def report(old: Path, new: Path, renamed: Mapping[str, str] | None = None) -> str:
    """Say in Markdown what moved from one results folder to the other.

    `renamed` gives the new name of each column that was renamed on purpose, by its old one.
    """
    before, after = (
        {f"{k}/{p.name}" for k in KINDS for p in (f / k).glob("*.csv")} for f in (old, new)
    )
    if not after:
        raise FileNotFoundError(f"there is no table in {new}")
    if not before:
        return f"Nothing to compare with: there is no table in {old}.\n"
    moved = {}
    for name in sorted(before & after, key=lambda name: (not name.startswith("tables"), name)):
        if (old / name).read_bytes() != (new / name).read_bytes():
            now = read(new / name)
            found = compare(with_new_names(read(old / name), now, renamed or {}), now)
            if found:
                moved[name] = found
    if not moved and before == after:
        return f"Nothing moved: {len(after)} tables and figures' data are equal.\n"
    lines = [f"{len(moved)} of {len(before & after)} tables and figures' data moved."]
    flips = [words for found in moved.values() for words in found.verdicts]
    for title, items in (
        ("Verdicts that flipped", flips),
        ("New", sorted(after - before)),
        ("Gone", sorted(before - after)),
        ("Rows and columns", [f"{n}: {words}" for n, m in moved.items() for words in m.notes]),
    ):
        if items:
            lines += ["", f"### {title}", "", *(f"- {item}" for item in items)]
    columns = [
        f"| {name} | {c['column']} | {c['rows']} | {c['change']} | {c['relative']} | {c['where']} |"
        for name, found in moved.items()
        for c in found.columns
    ]
    if columns:
        lines += ["", "### Columns", ""]
        lines += ["| table | column | rows | largest change | largest relative change | at |"]
        lines += ["|---|---|---:|---|---:|---|", *columns[:LONGEST]]
        if len(columns) > LONGEST:
            lines += ["", f"and {len(columns) - LONGEST} more columns."]
    return "\n".join(lines) + "\n"


def pair(text: str) -> tuple[str, str]:
    """Split old=new."""
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise argparse.ArgumentTypeError(f"{text!r} will not do; wanted: old=new")
    return old, new


def main(arguments=None) -> None:
    """Print what moved."""
    parser = argparse.ArgumentParser(description="Say what moved between two runs' tables.")
    parser.add_argument("old", type=Path, metavar="OLD", help="a results folder")
    parser.add_argument("new", type=Path, metavar="NEW", help="another one")
    parser.add_argument(
        "--renamed",
        type=pair,
        action="append",
        default=[],
        metavar="old=new",
        help="a column that was renamed on purpose; may be given many times",
    )
    given = parser.parse_args(arguments)
    try:
        sys.stdout.write(report(given.old, given.new, dict(given.renamed)))
    except FileNotFoundError as error:
        parser.exit(1, f"error: {error}\n")


if __name__ == "__main__":
    main()
