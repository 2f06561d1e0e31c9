"""Which faults can be put into the sources, and a fixed sample of them.

The edits are cosmic-ray's. Left out are edits that no test could or should see: in annotations,
decorators, docstrings, and in the texts of errors (whatever stands in a `raise`).
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import Visitor, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

SEED = 20221201
# A bit operation in place of a sum, or `is` in place of `==`, ends in a TypeError, seen at once.
_ARITHMETIC = "(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)"
_COMPARISON = "(Eq|NotEq|Lt|LtE|Gt|GtE)"
KINDS = re.compile(
    rf"core/(NumberReplacer|AddNot|ReplaceAndWithOr|ReplaceOrWithAnd|ReplaceTrueWithFalse"
    rf"|ReplaceFalseWithTrue|ReplaceBreakWithContinue|ReplaceContinueWithBreak"
    rf"|ZeroIterationForLoop|ReplaceUnaryOperator_USub_UAdd|ReplaceUnaryOperator_Delete_Not"
    rf"|ReplaceBinaryOperator_{_ARITHMETIC}_{_ARITHMETIC}"
    rf"|ReplaceComparisonOperator_(Is_IsNot|IsNot_Is|In_NotIn|NotIn_In"
    rf"|{_COMPARISON}_{_COMPARISON}))"
)


@dataclass(frozen=True)
class Fault:
    """One edit of one file.

    Attributes
    ----------
    path : str
        File, from the folder of the packages.
    line : int
        Where the edit starts, from 1.
    operator : str
        Name of cosmic-ray's operator.
    occurrence : int
        Which of the places in the file where the operator applies.
    """

    path: str
    line: int
    operator: str
    occurrence: int

    def applied(self, source: str) -> str:
        """Text of the file with the edit."""
        return mutate_code(source, get_operator(self.operator)(), self.occurrence)

    def change(self, source: str) -> tuple[str, str]:
        """First line that the edit changes, before and after it."""
        pairs = zip(source.splitlines(), self.applied(source).splitlines(), strict=False)
        return next((old.strip(), new.strip()) for old, new in pairs if old != new)


def faults_of(source: str, path: str) -> Iterator[Fault]:
    """Every edit of a file that counts."""
    protected = _protected_lines(source)
    places = _Places()
    places.walk(get_ast(source))
    for name, lines in places.lines.items():
        for occurrence, line in enumerate(lines):
            if line not in protected:
                yield Fault(path, line, name, occurrence)


class _Places(Visitor):
    """For each operator, the lines where it applies, in the order in which it counts them."""

    def __init__(self):
        names = sorted(name for name in operator_names() if KINDS.fullmatch(name))
        self.operators = {name: get_operator(name)() for name in names}
        self.lines = {name: [] for name in names}

    def visit(self, node):
        for name, operator in self.operators.items():
            self.lines[name] += [start[0] for start, _ in operator.mutation_positions(node)]
        return node


def _protected_lines(source: str) -> set[int]:
    """Lines of texts, annotations, imports and decorators."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.AnnAssign):
            found.update(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, ast.FunctionDef):
            found.update(range(node.lineno, node.body[0].lineno))
            found.update(decorator.lineno for decorator in node.decorator_list)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.update(range(node.lineno, node.end_lineno + 1))
    return found


def sample(sources: Path, package: str, number: int) -> list[Fault]:
    """Draw a fixed sample of the faults of a package: lines first, then an edit of each.

    What is drawn are the least of hashes of a line's and an edit's own text, so that an edited
    source draws other faults where it was edited, and elsewhere all but a few stay.

    Parameters
    ----------
    sources : Path
        Folder of the packages.
    package : str
        A folder of it, such as isdp/exact.
    number : int
        Of faults at most.
    """
    lines: dict[tuple, list] = defaultdict(list)
    for path in sorted((sources / package).rglob("*.py")):
        if path.name != "__init__.py":
            name, text = path.relative_to(sources).as_posix(), path.read_text()
            places = _places_of_lines(text)
            for fault in faults_of(text, name):
                lines[name, *places[fault.line - 1]].append(fault)
    return [
        min(enumerate(lines[place]), key=lambda each: _hash((place, each[0], each[1].operator)))[1]
        for place in sorted(lines, key=_hash)[:number]
    ]


def _places_of_lines(text: str) -> list[tuple[str, int]]:
    """Each line of a text, and how many of the lines before it are the same."""
    seen: Counter = Counter()
    places = []
    for line in text.splitlines():
        places.append((line.strip(), seen[line.strip()]))
        seen[line.strip()] += 1
    return places


def _hash(what: tuple) -> str:
    return hashlib.sha256(f"{SEED} {what!r}".encode()).hexdigest()
