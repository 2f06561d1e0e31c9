"""The table axes, the queries of each level, and the privacy budget of each query."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from isdp.accounting import PrivacyGuarantee
from isdp.arrays import BoolArray, FloatArray
from isdp.checks import check_choice, parse_rational
from isdp.constraints import Invariants
from isdp.errors import InputError

TOTAL, DETAIL, ELSEWHERE = "total", "detail", "elsewhere"
MAX_VARIANCE = 1e30  # maximum variance; noise of a larger one may overflow 64-bit integers
MAX_LOSS = 1000  # maximum loss of a query; the variance of a larger one may underflow to 0
Flavour = Literal["pure", "zCDP"]
FLAVOURS = get_args(Flavour)


@dataclass(frozen=True)
class Schema:
    """The axes of the table of each region. The cells are numbered in row-major order.

    Parameters
    ----------
    axes : tuple of str
        Names of the axes. A name must not contain ``*``, and must not be "total", "detail" or
        "elsewhere".
    shape : tuple of int
        Number of categories along each axis.
    """

    axes: tuple[str, ...]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        reserved = {TOTAL, DETAIL, ELSEWHERE}
        if len(self.axes) != len(self.shape) or not self.axes or min(self.shape) < 1:
            raise InputError(
                f"schema: axes: {self.axes} do not fit the shape {self.shape}. Give one positive "
                f"size per axis."
            )
        if len(set(self.axes)) != len(self.axes) or any(
            name in reserved or "*" in name or not name for name in self.axes
        ):
            raise InputError(
                f"schema: axes: {self.axes} are not valid. Use distinct names without *, and none "
                f"of {', '.join(sorted(reserved))}."
            )

    @property
    def cells(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    def kept_axes(self, query: str) -> tuple[int, ...]:
        """Return the axes of a query.

        The query "detail" has all axes, "total" has none, and "race*sex" has the named axes.
        """
        if query == TOTAL:
            return ()
        names = self.axes if query == DETAIL else tuple(query.split("*"))
        unknown = [name for name in names if name not in self.axes]
        if unknown or len(set(names)) != len(names):
            raise InputError(
                f"schema: query: {query!r} is unknown. Use {TOTAL!r}, {DETAIL!r}, or some of the "
                f"axes {', '.join(self.axes)} joined by *."
            )
        return tuple(self.axes.index(name) for name in names)

    def margins(self, queries: Iterable[str]) -> Invariants:
        """Return the coefficients of all queries as one matrix of shape (answers, cells)."""
        return _margins(tuple(self.shape), tuple(self.kept_axes(query) for query in queries))

    def answers(self, query: str) -> int:
        """Return the number of answers of a query."""
        return math.prod(self.shape[axis] for axis in self.kept_axes(query))


@lru_cache(maxsize=64)
def _margins(shape: tuple[int, ...], kept: tuple[tuple[int, ...], ...]) -> Invariants:
    return Invariants.margins(shape, kept)


@dataclass(frozen=True)
class Budget:
    """A privacy budget that is divided among levels, and within each level among queries.

    Parameters
    ----------
    flavour : {"pure", "zCDP"}
        "pure" adds discrete Laplace noise to query q, with P(k) proportional to exp(-epsilon_q
        |k| / 2). "zCDP" adds discrete Gaussian noise with sigma^2 = 1 / rho_q.
    total : number
        Total epsilon or rho, for one person who changes cell.
    levels : mapping from level to share
        Shares of the total, which sum to exactly 1. TopDown does not spend the share of the key
        "elsewhere".
    queries : mapping from level to a mapping from query to share
        Shares of the queries in the budget of each level. The shares of a level sum to exactly 1.

    Raises
    ------
    InputError
        If shares are negative or do not sum to 1, or levels and queries have different keys. The
        error is also raised if a loss exceeds 1000, or noise could overflow 64-bit integers.

    Notes
    -----
    The number of people is public, so neighbouring tables differ in the cell of one person. Two
    answers of each query then change by 1. The l1 distance of the answers is 2, and the squared l2
    distance is 2. A float share is read as its shortest decimal form.
    """

    flavour: Flavour
    total: Fraction
    levels: Mapping[str, Fraction]
    queries: Mapping[str, Mapping[str, Fraction]]

    def __post_init__(self) -> None:
        check_choice("budget: flavour", self.flavour, FLAVOURS)
        total = parse_rational("budget: the total", self.total)
        if total <= 0:
            raise InputError(f"budget: total: the value must be positive, got {self.total}")
        levels = _shares("the levels", self.levels)
        if set(self.queries) != set(levels) - {ELSEWHERE}:
            raise InputError(
                f"budget: queries: the levels {', '.join(self.queries)} have queries, but the "
                f"levels {', '.join(levels)} have shares. Give queries for the same levels."
            )
        queries = {name: _shares(f"level {name!r}", each) for name, each in self.queries.items()}
        for name, value in (("total", total), ("levels", levels), ("queries", queries)):
            object.__setattr__(self, name, value)
        for level in queries:
            for query in self.measured_queries(level):
                if self.loss(level, query) > MAX_LOSS:
                    raise InputError(
                        f"budget: {level}, {query}: the loss exceeds {MAX_LOSS}. Reduce the share."
                    )
                if self.variance(level, query) > MAX_VARIANCE:
                    raise InputError(
                        f"budget: {level}, {query}: the noise could overflow 64-bit integers. "
                        f"Increase the share."
                    )

    def measured_queries(self, level: str) -> tuple[str, ...]:
        """Return the queries of a level that are measured, in the given order."""
        if level not in self.queries:
            raise InputError(f"budget: levels: {level!r} has no share. Give this level a share.")
        return tuple(q for q, share in self.queries[level].items() if share and q != ELSEWHERE)

    def loss(self, level: str, query: str) -> Fraction:
        """Compute epsilon or rho of one query of a level, for one person who changes cell."""
        return self.total * self.levels[level] * self.queries[level][query]

    def variance(self, level: str, query: str) -> float:
        """Compute the variance of the noise of each answer, or a close upper bound.

        Discrete Laplace noise has the variance 2a/(1 - a)^2 with a = exp(-epsilon / 2). The
        variance of discrete Gaussian noise is at most sigma^2, and close to sigma^2 if sigma is at
        least 1.
        """
        loss = float(self.loss(level, query))
        if loss == 0:
            return math.inf
        if self.flavour == "zCDP":
            return 1 / loss
        return 2 * math.exp(-loss / 2) / math.expm1(-loss / 2) ** 2

    @property
    def spent(self) -> Fraction:
        """Total epsilon or rho of all queries."""
        return sum(
            (self.loss(level, q) for level in self.queries for q in self.measured_queries(level)),
            start=Fraction(0),
        )

    def guarantee_of(self, held: str = "") -> PrivacyGuarantee:
        """Return the guarantee of all measurements and of everything computed from them.

        `held` names the exact totals, other than the number of people.
        """
        known = "the number of people" + (f", {held}" if held else "")
        return PrivacyGuarantee(
            flavour=self.flavour,
            loss=self.spent,
            metric="person",
            per_person=1,
            source="composition of discrete Laplace measurements"
            if self.flavour == "pure"
            else "composition of discrete Gaussian measurements (Canonne, Kamath, Steinke 2020)",
            growth="linear" if self.flavour == "pure" else "quadratic",
            relation=f"two tables that agree in {known}",
            held=known,
        )

    def rows(self, schema: Schema) -> list[dict[str, Any]]:
        """List each query with its level, number of answers, share, loss and variance."""
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
            for query in self.measured_queries(level)
        ]


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries of one level. The answers are concatenated in the order of `queries`.

    Attributes
    ----------
    rows : csr_array, int64, shape (answers, cells)
    losses : tuple of Fraction
        Epsilon or rho of each query.
    counts : tuple of int
        Number of answers of each query.
    weights : float64 array, shape (answers,)
        Inverse variance of each answer.
    """

    queries: tuple[str, ...]
    rows: csr_array
    losses: tuple[Fraction, ...]
    counts: tuple[int, ...]
    weights: FloatArray

    def answers_to(self, queries: Collection[str]) -> BoolArray:
        """Return a bool array that is true for the answers to the given queries."""
        return np.repeat([query in queries for query in self.queries], self.counts)


def workload(schema: Schema, budget: Budget, level: str) -> Workload:
    """Return the workload of a level.

    Raise `InputError` if the level does not measure the query "detail", which identifies the cells.
    """
    queries = budget.measured_queries(level)
    if not any(len(schema.kept_axes(query)) == len(schema.axes) for query in queries):
        raise InputError(
            f"budget: queries: level {level!r} does not measure {DETAIL!r}. Give this query a "
            f"share."
        )
    counts = tuple(schema.answers(query) for query in queries)
    return Workload(
        queries=queries,
        rows=schema.margins(queries).sparse,
        losses=tuple(budget.loss(level, query) for query in queries),
        counts=counts,
        weights=np.repeat([1 / budget.variance(level, query) for query in queries], counts),
    )


def _shares(owner: str, given: Mapping[str, Any]) -> dict[str, Fraction]:
    shares = {
        name: parse_rational(f"budget: the share of {name!r} in {owner}", share)
        for name, share in given.items()
    }
    if any(share < 0 for share in shares.values()) or sum(shares.values()) != 1:
        raise InputError(
            f"budget: the shares of {owner} must be 0 or more and sum to 1, but sum to "
            f"{sum(shares.values())}. Give the share that is not spent to {ELSEWHERE!r}."
        )
    return shares
