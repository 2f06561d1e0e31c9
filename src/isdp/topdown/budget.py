"""What is asked at each level, and what part of the budget each question takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from isdp.accounting import PrivacyGuarantee
from isdp.checks import check_choice, parse_rational
from isdp.constraints import Invariants
from isdp.errors import InputError

TOTAL, DETAIL, ELSEWHERE = "total", "detail", "elsewhere"
LARGEST_VARIANCE = 1e30  # beyond it noise would leave 64-bit integers
LARGEST_LOSS = 1000  # of a query; beyond it a variance may be 0 in doubles
FLAVOURS = ("pure", "zCDP")


@dataclass(frozen=True)
class Schema:
    """Axes of the table that each region has; its cells are numbered in row-major order.

    Parameters
    ----------
    axes : tuple of str
        Names without ``*``, none of them "total", "detail" or "elsewhere".
    shape : tuple of int
        Categories along each axis.
    """

    axes: tuple[str, ...]
    shape: tuple[int, ...]

    def __post_init__(self):
        reserved = {TOTAL, DETAIL, ELSEWHERE}
        if len(self.axes) != len(self.shape) or not self.axes or min(self.shape) < 1:
            raise InputError(f"schema: axes {self.axes} do not fit the shape {self.shape}")
        if len(set(self.axes)) != len(self.axes) or any(
            name in reserved or "*" in name or not name for name in self.axes
        ):
            raise InputError(f"schema: the names {self.axes} of the axes are not allowed")

    @property
    def cells(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    def kept(self, query: str) -> tuple[int, ...]:
        """Axes that a query keeps: "total" none, "detail" all, "race*sex" those two."""
        if query == TOTAL:
            return ()
        names = self.axes if query == DETAIL else tuple(query.split("*"))
        unknown = [name for name in names if name not in self.axes]
        if unknown or len(set(names)) != len(names):
            raise InputError(
                f"schema: query {query!r} is neither {TOTAL!r}, {DETAIL!r} nor made of the axes "
                f"{', '.join(self.axes)} joined by *"
            )
        return tuple(self.axes.index(name) for name in names)

    def margins(self, queries) -> Invariants:
        """Rows of all the queries, one under the other; shape (answers, cells)."""
        return _margins(tuple(self.shape), tuple(self.kept(query) for query in queries))

    def answers(self, query: str) -> int:
        """Count the answers of a query."""
        return math.prod(self.shape[axis] for axis in self.kept(query))


@lru_cache(maxsize=64)
def _margins(shape: tuple[int, ...], kept: tuple[tuple[int, ...], ...]) -> Invariants:
    return Invariants.margins(shape, kept)


@dataclass(frozen=True)
class Budget:
    """A privacy budget, shared among levels and, in each level, among queries.

    Parameters
    ----------
    flavour : {"pure", "zCDP"}
        Double geometric noise with a = exp(-epsilon_q / 2), or discrete Gaussian noise with
        sigma^2 = 1 / rho_q.
    total : number
        epsilon or rho of the whole, for one person who changes cell.
    levels : mapping from level to share
        Shares of the total. They add up to 1 exactly, where the key "elsewhere" takes what is
        not spent here.
    queries : mapping from level to a mapping from query to share
        The same within each level.

    Notes
    -----
    The number of people is known, so that neighbours differ in the cell of one person: two cells
    of every query change by 1, which makes an l1 distance of 2 and a squared l2 distance of 2. A
    float share stands for the decimal number that it prints as.

    Raises
    ------
    InputError
        If a share is negative, shares do not add up to 1, a level has no queries or the other
        way about, more than 1000 is spent on a query, or the noise would not fit into 64-bit
        integers.
    """

    flavour: str
    total: Fraction
    levels: Mapping[str, Fraction]
    queries: Mapping[str, Mapping[str, Fraction]]

    def __post_init__(self):
        check_choice("budget: flavour", self.flavour, FLAVOURS)
        total = parse_rational("budget: the total", self.total)
        if total <= 0:
            raise InputError(f"budget: the total must be positive, got {self.total}")
        levels = _shares("the levels", self.levels)
        if set(self.queries) != set(levels) - {ELSEWHERE}:
            raise InputError(
                f"budget: shares are given to the levels {', '.join(levels)}, but queries to "
                f"{', '.join(self.queries)}"
            )
        queries = {name: _shares(f"level {name!r}", each) for name, each in self.queries.items()}
        for name, value in (("total", total), ("levels", levels), ("queries", queries)):
            object.__setattr__(self, name, value)
        for level in queries:
            for query in self.asked(level):
                if self.loss(level, query) > LARGEST_LOSS:
                    raise InputError(
                        f"budget: {level}, {query}: at most {LARGEST_LOSS} can be spent on a query"
                    )
                if self.variance(level, query) > LARGEST_VARIANCE:
                    raise InputError(f"budget: {level}, {query}: too little for whole numbers")

    def asked(self, level: str) -> tuple[str, ...]:
        """List the queries of a level that are measured, in the order given."""
        if level not in self.queries:
            raise InputError(f"budget: nothing is spent on level {level!r}")
        return tuple(q for q, share in self.queries[level].items() if share and q != ELSEWHERE)

    def loss(self, level: str, query: str) -> Fraction:
        """Epsilon or rho of one query of a level, for one person who changes cell."""
        return self.total * self.levels[level] * self.queries[level][query]

    def variance(self, level: str, query: str) -> float:
        """Variance of the noise in each answer: 2a/(1 - a)^2 of a double geometric law.

        Of a discrete Gaussian law sigma^2, which the variance never exceeds and is close to from
        a sigma of 1 up.
        """
        loss = float(self.loss(level, query))
        if loss == 0:
            return math.inf
        if self.flavour == "zCDP":
            return 1 / loss
        return 2 * math.exp(-loss / 2) / math.expm1(-loss / 2) ** 2

    @property
    def spent(self) -> Fraction:
        """Part of the total that is spent here, as epsilon or rho."""
        return sum(
            (self.loss(level, q) for level in self.queries for q in self.asked(level)),
            start=Fraction(0),
        )

    def guarantee(self, held: str = "") -> PrivacyGuarantee:
        """Guarantee of all measurements together; what is computed from them costs no more.

        Parameters
        ----------
        held : str
            What is published as it is, beside the number of people.
        """
        known = "the number of people" + (f", {held}" if held else "")
        return PrivacyGuarantee(
            flavour=self.flavour,
            loss=self.spent,
            metric="person",
            per_person=1,
            source="composition of double geometric measurements"
            if self.flavour == "pure"
            else "composition of discrete Gaussian measurements (Canonne, Kamath, Steinke 2020)",
            growth="linear" if self.flavour == "pure" else "quadratic",
            relation=f"two tables that agree in {known}",
            held=known,
        )

    def rows(self, schema: Schema) -> list[dict]:
        """List level, query, answers, share of the total, loss and variance, one dict a query."""
        return [
            {
                "level": level,
                "query": query,
                "answers": schema.answers(query),
                "share": float(self.loss(level, query) / self.total),
                "loss": float(self.loss(level, query)),
                "variance": self.variance(level, query),
            }
            for level in self.queries
            for query in self.asked(level)
        ]


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries of one level, as the estimation takes them.

    Attributes
    ----------
    rows : csr_array, int64, shape (answers, cells)
    losses : tuple of Fraction
        Epsilon or rho of each query.
    counts : tuple of int
        Answers of each query.
    weights : float64 array, shape (answers,)
        One over the variance of each answer.
    """

    queries: tuple[str, ...]
    rows: object
    losses: tuple[Fraction, ...]
    counts: tuple[int, ...]
    weights: np.ndarray

    def of(self, wanted) -> np.ndarray:
        """Whether each answer belongs to one of some queries, bool (answers,)."""
        return np.repeat([query in wanted for query in self.queries], self.counts)

    def on(self, cells) -> Workload:
        """Keep the answers that count one of some cells, in their order."""
        counted = np.zeros(self.rows.shape[1], dtype=np.int64)
        counted[cells] = 1
        stays = self.rows @ counted > 0
        ends = np.cumsum(self.counts)
        counts = tuple(int(part.sum()) for part in np.split(stays, ends[:-1]))
        return Workload(
            self.queries, self.rows[np.flatnonzero(stays)], self.losses, counts, self.weights[stays]
        )


def workload(schema: Schema, budget: Budget, level: str) -> Workload:
    """Put the queries of a level together.

    Raises
    ------
    InputError
        If "detail" is not among them, without which the cells cannot be told apart.
    """
    queries = budget.asked(level)
    if not any(len(schema.kept(query)) == len(schema.axes) for query in queries):
        raise InputError(f"budget: level {level!r} does not ask for {DETAIL!r}; give it a share")
    counts = tuple(schema.answers(query) for query in queries)
    return Workload(
        queries=queries,
        rows=schema.margins(queries).sparse,
        losses=tuple(budget.loss(level, query) for query in queries),
        counts=counts,
        weights=np.repeat([1 / budget.variance(level, query) for query in queries], counts),
    )


def _shares(of: str, given: Mapping) -> dict[str, Fraction]:
    shares = {
        name: parse_rational(f"budget: the share of {name!r} in {of}", share)
        for name, share in given.items()
    }
    if any(share < 0 for share in shares.values()) or sum(shares.values()) != 1:
        raise InputError(
            f"budget: the shares of {of} must be from 0 up and add up to 1, but add up to "
            f"{sum(shares.values())}; what is spent elsewhere goes to {ELSEWHERE!r}"
        )
    return shares
