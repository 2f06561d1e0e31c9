"""Report the differences between the tables of two runs in Markdown.

    python -m reproduction.jobs.compare_tables OLD NEW

OLD and NEW are results folders. The command compares all files tables/*.csv and figures/*.csv row
by row.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

MAX_ROUNDING = 1e-9  # relative difference that may come from rounding on another machine
FOLDERS = ("tables", "figures")
MAX_COLUMNS = 150  # maximum number of changed columns that the report lists
VERDICTS, STRUCTURE = "Changed verdicts", "Rows and columns"
LARGEST = "Largest difference in combined standard errors"
COLUMNS = ["column", "rows", "largest change", "largest relative change", "at"]
ROW_NUMBER = "nth row of its key"
ERROR_SUFFIXES = {"error", "se", "mcse", "standard_error"}


def parse_numbers(column: pd.Series) -> pd.Series | None:
    """Convert a column of strings to floats, with NaN for empty cells.

    Return None if a cell is not a number, or is a code such as 01001.
    """
    values = pd.to_numeric(column, errors="coerce")
    text = (values.isna() & (column != "")) | column.str.match(r"-?0\d")
    return None if text.any() else values.astype(float)


def choose_key_columns(old: pd.DataFrame, new: pd.DataFrame, shared: list[str]) -> list[str]:
    """Choose the columns that identify a row.

    Columns of strings are preferred to columns of numbers, and these to columns of True and False.
    A column is added only if it distinguishes rows that the earlier columns do not distinguish.
    """
    keys, groups = [], (1, 1)
    flags = [name for name in shared if {*old[name], *new[name]} <= {"True", "False"}]
    for name in sorted(shared, key=lambda name: (name in flags, old[name].dtype == float)):
        inside = old[name].isin(new[name]).all(), new[name].isin(old[name]).all()
        if all(inside) if old[name].dtype == float else any(inside):
            finer = tuple(t.groupby([*keys, name], dropna=False).ngroups for t in (old, new))
            if finer > groups:
                keys, groups = [*keys, name], finer
    return keys


def find_error_column(name: str, columns: list[str]) -> str | None:
    """Find the standard errors of a column, by their name or in the next column."""
    named = {f"{name.removesuffix('_value')}_{suffix}" for suffix in ERROR_SUFFIXES}
    right = ERROR_SUFFIXES.intersection(columns[columns.index(name) + 1 :][:1])
    # if the column contains errors, a next column "error" is another quantity
    found = named if name.startswith("error") else named | right
    return next((column for column in columns if column in found), None)


def shorten(value) -> str:
    """Shorten a value to six digits or sixty characters, and escape it for Markdown tables."""
    if isinstance(value, float):
        return "(blank)" if np.isnan(value) else f"{value:.6g}"
    return value[:60].replace("|", "\\|").replace("\n", " ") or "(blank)"


def compare(old: pd.DataFrame, new: pd.DataFrame) -> tuple[list[dict], list[str], dict]:
    """Compare two tables of strings.

    The function returns three values. The first lists the changed columns, each as a dict with the
    keys `COLUMNS`. The second lists notes on new and missing rows and columns. The third maps the
    titles of two sections to their lines.
    """
    names = {"new": new.columns.difference(old.columns, sort=False)}
    names["gone"] = old.columns.difference(new.columns, sort=False)
    notes = [f"columns {word}: {', '.join(found)}" for word, found in names.items() if len(found)]
    shared = [name for name in new if name in old]
    if sorted(old[shared].to_numpy().tolist()) == sorted(new[shared].to_numpy().tolist()):
        return [], notes, {}
    old, new = old[shared].copy(), new[shared].copy()
    for name in shared:
        before, after = parse_numbers(old[name]), parse_numbers(new[name])
        if before is not None and after is not None:
            old[name], new[name] = before, after
    keys = choose_key_columns(old, new, shared)
    for table in (old, new):
        table[ROW_NUMBER] = (
            table.groupby(keys, dropna=False).cumcount() if keys else range(len(table))
        )
    both = new.merge(
        old, on=[*keys, ROW_NUMBER], how="outer", suffixes=(" new", " old"), indicator=True
    )
    for word, side in (("new", "left_only"), ("gone", "right_only")):
        number = (both["_merge"] == side).sum()
        notes += [f"{number} row{'s' if number > 1 else ''} {word}"] if number else []
    both = both[both["_merge"] == "both"]
    where = both[keys].map(shorten).agg(", ".join, axis=1) if keys else pd.Series("row", both.index)
    numbers = [f" ({n})" if n > 1 or not keys else "" for n in both[ROW_NUMBER] + 1]
    where += pd.Series(numbers, both.index, dtype=str)
    changes, verdicts, apart = [], [], {}
    for name in [name for name in shared if name not in keys and len(both)]:
        a, b = both[f"{name} old"], both[f"{name} new"]
        numeric = a.dtype == float
        moved = ~np.isclose(a, b, MAX_ROUNDING, 0, equal_nan=True) if numeric else a != b
        a, b = a[moved], b[moved]
        if a.empty:
            continue
        gap = (b - a).abs() if numeric else pd.Series(np.inf, a.index)
        largest = gap.fillna(np.inf).idxmax()
        relative = (gap / a.abs()).replace(np.inf, np.nan).max() if numeric else np.nan
        values = (
            f"{shorten(a[largest])} → {shorten(b[largest])}",
            f"{relative:.2g}".replace("nan", ""),
        )
        changes.append(dict(zip(COLUMNS, (name, len(a), *values, where[largest]), strict=True)))
        if name == "verdict":
            verdicts = [f"{where[row]}: {a[row]} → **{b[row]}**" for row in a.index]
        error = find_error_column(name, shared) if numeric else None
        if error and old[error].dtype == float:
            errors = np.hypot(both[f"{error} old"], both[f"{error} new"])
            ratios = (gap / errors.reindex(gap.index)).dropna()
            apart |= {ratio: f"{ratio:.3g} ({name}, {where[row]})" for row, ratio in ratios.items()}
    return changes, notes, {VERDICTS: verdicts, LARGEST: [apart[max(apart)]] if apart else []}


def report(old: Path, new: Path) -> str:
    """Describe the differences between two results folders in Markdown."""
    before, after = (
        {path.relative_to(run) for path in run.glob("*/*.csv") if path.parent.name in FOLDERS}
        for run in (old, new)
    )
    if not after:
        raise FileNotFoundError(f"{new}: there are no tables. Give a results folder.")
    if not before:
        return f"{old} has no tables to compare with.\n"
    sections = {VERDICTS: [], "New": sorted(after - before), "Gone": sorted(before - after)}
    sections |= {STRUCTURE: [], LARGEST: []}
    changes, moved, same = [], 0, 0
    for name in sorted(before & after, key=lambda name: (name.parts[0] != "tables", name)):
        if (old / name).read_bytes() == (new / name).read_bytes():
            continue
        was, now = (pd.read_csv(run / name, dtype=str, keep_default_na=False) for run in (old, new))
        columns, notes, others = compare(was, now)
        moved, same = moved + bool(columns or notes), same + (not columns and not notes)
        changes += [{"table": name, **change} for change in columns]
        sections[VERDICTS] += others.get(VERDICTS, [])
        sections[STRUCTURE] += [f"{name}: {note}" for note in notes]
        sections[LARGEST] += [f"{name}: {each}" for each in others.get(LARGEST, [])]
    aside = f" ({same} after sorting and rounding)" if same else ""
    if not moved and before == after:
        return f"All {len(after)} tables and data files of figures are equal{aside}.\n"
    text = f"{moved} of {len(before & after)} tables and data files of figures differ{aside}.\n"
    for title, items in sections.items():
        text += f"\n### {title}\n\n" + "".join(f"- {item}\n" for item in items) if items else ""
    if changes:
        table = pd.DataFrame(changes)[:MAX_COLUMNS].to_markdown(index=False, disable_numparse=True)
        text += f"\n### Columns\n\n{table}\n"
    if len(changes) > MAX_COLUMNS:
        text += f"\nand {len(changes) - MAX_COLUMNS} more columns.\n"
    return text


def main(arguments=None) -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description="Report the differences between two runs.")
    parser.add_argument("old", type=Path, metavar="OLD", help="results folder of the first run")
    parser.add_argument("new", type=Path, metavar="NEW", help="results folder of the second run")
    given = parser.parse_args(arguments)
    try:
        print(report(given.old, given.new), end="")
    except FileNotFoundError as error:
        parser.exit(1, f"error: {error}\n")


if __name__ == "__main__":
    main()
