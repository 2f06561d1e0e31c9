"""Columns of the tables that claims are judged by, so that a wrong query is refused at the start.

    python -m reproduction.review.columns results

records them from the tables of a finished run, in workflow/schemas/tables/WING.yaml. A claim on a
table that is not recorded is checked for the query's syntax alone.
"""

from __future__ import annotations

import ast
import csv
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from isdp.errors import InputError
from reproduction.review.claims import columns_of, measures_of, read_claims, tables_of
from reproduction.running.yaml_files import read_yaml

BASE = Path(__file__).parents[3]
RECORDS = "workflow/schemas/tables"
HEAD = "# Columns of tables that claims are judged by; written by reproduction.review.columns.\n"
# what pandas reads in a query; the rest of Python's expressions it refuses only when it runs one
READ = (
    ast.Expression,
    ast.BoolOp,
    ast.boolop,
    ast.BinOp,
    ast.operator,
    ast.UnaryOp,
    ast.unaryop,
    ast.Compare,
    ast.cmpop,
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Call,
    ast.keyword,
    ast.List,
    ast.Tuple,
    ast.Subscript,
    ast.expr_context,
)
REFUSED = (ast.Is, ast.IsNot)


def read_columns(paths: Iterable) -> dict[str, list[str]]:
    """Read the columns recorded for each table, of all wings."""
    records = [read_yaml(path) or {} for path in paths]
    return {name: columns for record in records for name, columns in record.items()}


def check_measures(claims: Iterable[Mapping], recorded: Mapping[str, list[str]]) -> None:
    """Refuse a claim whose query cannot be read, or that names a column its table has not.

    Parameters
    ----------
    claims : iterable of mappings
        From `reproduction.review.claims.read_claims`.
    recorded : mapping
        Columns of each table, from `read_columns`.

    Raises
    ------
    InputError
        Naming the file, the claim, the table, and what does not fit.
    """
    for claim in claims:
        for how in measures_of(claim):
            try:
                _check(how, recorded.get(how["table"]))
            except InputError as error:
                where = f"config/claims/{claim['wing']}.yaml: claim {claim['claim']}"
                raise InputError(f"{where}: table {how['table']}: {error}") from error


def _check(how: Mapping, columns: list[str] | None) -> None:
    queries = [how[key] for key in ("among", "rows") if key in how]
    named = [name for query in queries for name in names_in(query)] + columns_of(how)
    for name in named if columns is not None else []:
        if name not in columns:
            raise InputError(
                f"there is no column {name!r}; there are {' '.join(columns)} "
                f"(a column that is new is added to {RECORDS})"
            )


def names_in(rows: str) -> list[str]:
    """List the columns that a pandas query names, in their order.

    Raises
    ------
    InputError
        If it is no query: not an expression, or one that pandas does not read.
    """
    quoted = re.findall("`([^`]*)`", rows)
    try:
        tree = ast.parse(re.sub("`[^`]*`", "True", rows).strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        raise InputError(f"rows {rows!r} cannot be read ({error.args[0]})") from error
    nodes = list(ast.walk(tree))
    for node in nodes:
        if not isinstance(node, READ) or isinstance(node, REFUSED):
            kind = type(node).__name__
            raise InputError(f"rows {rows!r} cannot be read (a query has no {kind})")
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return quoted + [
        node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called
    ]


def record(claims: list[Mapping], tables: Path, folder: Path) -> None:
    """Write the columns of the claims' tables, a file a wing; a table is its first claim's.

    Parameters
    ----------
    claims : list of mappings
    tables : Path
        The tables of a finished run. What is recorded of a table that is not there is kept.
    folder : Path
        Where the records are.
    """
    folder.mkdir(exist_ok=True)
    known = read_columns(folder.glob("*.yaml"))
    found: dict[str, dict[str, list[str]]] = {claim["wing"]: {} for claim in claims}
    wings = {name: claim["wing"] for claim in reversed(claims) for name in tables_of(claim)}
    for name, wing in sorted(wings.items()):
        columns = header(tables / f"{name}.csv") or known.get(name)
        if columns:
            found[wing][name] = columns
    for wing, columns in found.items():
        body = yaml.safe_dump(columns, default_flow_style=None, width=110)
        (folder / f"{wing}.yaml").write_text(HEAD + body)


def header(path: Path) -> list[str]:
    """Read a table's columns; none where there is no such table."""
    if not path.is_file():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


if __name__ == "__main__":
    record(
        read_claims(
            (BASE / "config/claims").glob("*.yaml"),
            BASE / "workflow/schemas/claims.schema.yaml",
            (BASE / "notebooks").glob("*.ipynb"),
        ),
        Path(sys.argv[1]) / "tables",
        BASE / RECORDS,
    )
