"""Checks of the claims' queries against the described columns of tables, before jobs run."""

import ast
import re
from collections.abc import Iterable, Mapping

from isdp.errors import InputError
from reproduction.jobs.descriptions import Descriptions
from reproduction.review.claims import list_columns, list_measures

# syntax that pandas accepts in a query; it refuses other expressions only at run time
ALLOWED_NODES = (
    *(ast.Expression, ast.BoolOp, ast.boolop, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop),
    *(ast.Compare, ast.cmpop, ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.keyword),
    *(ast.List, ast.Tuple, ast.Subscript, ast.expr_context),
)
REFUSED_NODES = (ast.Is, ast.IsNot)


def check_measures(claims: Iterable[Mapping], descriptions: Descriptions) -> None:
    """Check that every query of the claims can be parsed, and that their tables have the columns.

    Raises InputError, naming the file, the claim and the table.
    """
    for claim in claims:
        for how in list_measures(claim):
            try:
                queries = [how[key] for key in ("among", "rows") if key in how]
                named = [name for query in queries for name in parse_names(query)] + list_columns(
                    how
                )
                descriptions.columns_of("tables", how["table"], named)
            except InputError as error:
                where = f"config/claims/{claim['wing']}.yaml: claim {claim['claim']}"
                raise InputError(f"{where}: table {how['table']}: {error}") from error


def parse_names(rows: str) -> list[str]:
    """List the columns that a pandas query names.

    Raises InputError for a query that pandas refuses.
    """
    quoted = re.findall("`([^`]*)`", rows)
    try:
        nodes = list(ast.walk(ast.parse(re.sub("`[^`]*`", "True", rows).strip(), mode="eval")))
    except (SyntaxError, ValueError) as error:
        raise InputError(f"rows {rows!r}: not a pandas query ({error.args[0]})") from error
    for node in nodes:
        if not isinstance(node, ALLOWED_NODES) or isinstance(node, REFUSED_NODES):
            kind = type(node).__name__
            raise InputError(f"rows {rows!r}: not a pandas query ({kind} is not allowed)")
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    names = [node for node in nodes if isinstance(node, ast.Name) and node not in called]
    return quoted + [node.id for node in names]
