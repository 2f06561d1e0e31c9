"""The table axes, the queries of each level, and the privacy budget of each query."""

from __future__ import annotations

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
MAX_VARIANCE = 1e30  # larger noise may overflow 64-bit integers
MAX_LOSS = 1000  # of a query; beyond it a variance may underflow to 0
Flavour = Literal["pure", "zCDP"]
FLAVOURS = get_args(Flavour)


@dataclass(frozen=True)
class Schema:
    """Axes of the table of each region; the cells are numbered in row-major order.

    Parameters
    ----------
    axes : tuple of str
        Names without ``*``, other than "total", "detail" and "elsewhere".
    shape : tuple of int
        Number of categories along each axis.
    """

    axes: tuple[str, ...]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        reserved = {TOTAL, DETAIL, ELSEWHERE}
        if len(self.axes) != len(self.shape) or not self.axes or min(self.shape) < 1:
            raise InputError(f"schema: axes {self.axes} do not fit the shape {self.shape}")
        if len(set(self.axes)) != len(self.axes) or any(
            name in reserved or "*" in name or not name for name in self.axes
        ):
            raise InputError(
                f"schema: axes {self.axes}: use distinct names without *, and none of "
                f"{', '.join(sorted(reserved))}"
            )

    @property
    def cells(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    def kept_axes(self, query: str) -> tuple[int, ...]:
        """Return the axes of a query: none for "total", all for "detail", two for "race*sex"."""
        if query == TOTAL:
            return ()
        names = self.axes if query == DETAIL else tuple(query.split("*"))
        unknown = [name for name in names if name not in self.axes]
        if unknown or len(set(names)) != len(names):
            raise InputError(
                f"schema: query {query!r} is not {TOTAL!r}, {DETAIL!r} or a list of the axes "
                f"{', '.join(self.axes)} joined by *"
            )
        return tuple(self.axes.index(name) for name in names)

    def margins(self, queries: Iterable[str]) -> Invariants:
        """Return the stacked rows of all queries; shape (answers, cells)."""
        return _margins(tuple(self.shape), tuple(self.kept_axes(query) for query in queries))

    def answers(self, query: str) -> int:
        """Return the number of answers of a query."""
        return math.prod(self.shape[axis] for axis in self.kept_axes(query))


@lru_cache(maxsize=64)
def _margins(shape: tuple[int, ...], kept: tuple[tuple[int, ...], ...]) -> Invariants:
    return Invariants.margins(shape, kept)


@dataclass(frozen=True)
class Budget:
    """A privacy budget, divided among levels and, in each level, among queries.

    Parameters
    ----------
    flavour : {"pure", "zCDP"}
        Double geometric noise with a = exp(-epsilon_q / 2), or discrete Gaussian noise with
        sigma^2 = 1 / rho_q.
    total : number
        Total epsilon or rho, for one person who changes cell.
    levels : mapping from level to share
        Shares of the total. They add up to exactly 1. The key "elsewhere" has the share that is
        not spent here.
    queries : mapping from level to a mapping from query to share
        Shares within each level, by the same rules.

    Raises
    ------
    InputError
        If a share is negative, shares do not add up to 1, levels and queries do not have the same
        keys, a query has a loss above 1000, or the noise could overflow 64-bit integers.

    Notes
    -----
    The number of people is public, so that neighbours differ in the cell of one person. Two
    answers of each query change by 1, an l1 distance of 2 and a squared l2 distance of 2. A float
    share stands for its shortest decimal form.
    """

    flavour: Flavour
    total: Fraction
    levels: Mapping[str, Fraction]
    queries: Mapping[str, Mapping[str, Fraction]]

    def __post_init__(self) -> None:
        check_choice("budget: flavour", self.flavour, FLAVOURS)
        total = parse_rational("budget: the total", self.total)
        if total <= 0:
            raise InputError(f"budget: the total must be positive, got {self.total}")
        levels = _shares("the levels", self.levels)
        if set(self.queries) != set(levels) - {ELSEWHERE}:
            raise InputError(
                f"budget: the levels {', '.join(levels)} have shares, but the levels "
                f"{', '.join(self.queries)} have queries; they must be the same"
            )
        queries = {name: _shares(f"level {name!r}", each) for name, each in self.queries.items()}
        for name, value in (("total", total), ("levels", levels), ("queries", queries)):
            object.__setattr__(self, name, value)
        for level in queries:
            for query in self.measured_queries(level):
                if self.loss(level, query) > MAX_LOSS:
                    raise InputError(
                        f"budget: {level}, {query}: the loss must be at most {MAX_LOSS}"
                    )
                if self.variance(level, query) > MAX_VARIANCE:
                    raise InputError(
                        f"budget: {level}, {query}: the noise could exceed 64 bits; increase the "
                        f"share"
                    )

    def measured_queries(self, level: str) -> tuple[str, ...]:
        """Return the queries of a level that are measured, in the given order."""
        if level not in self.queries:
            raise InputError(f"budget: level {level!r} has no share")
        return tuple(q for q, share in self.queries[level].items() if share and q != ELSEWHERE)

    def loss(self, level: str, query: str) -> Fraction:
        """Compute epsilon or rho of one query of a level, for one person who changes cell."""
        return self.total * self.levels[level] * self.queries[level][query]

    def variance(self, level: str, query: str) -> float:
        """Compute the variance of the noise in each answer, or a close upper bound.

        Double geometric noise has the variance 2a/(1 - a)^2. The variance of discrete Gaussian
        noise is at most sigma^2, and close to it for sigma of 1 or more.
        """
        loss = float(self.loss(level, query))
        if loss == 0:
            return math.inf
        if self.flavour == "zCDP":
            return 1 / loss
        return 2 * math.exp(-loss / 2) / math.expm1(-loss / 2) ** 2

    @property
    def spent(self) -> Fraction:
        """Epsilon or rho of all queries together."""
        return sum(
            (self.loss(level, q) for level in self.queries for q in self.measured_queries(level)),
            start=Fraction(0),
        )

    def guarantee_of(self, held: str = "") -> PrivacyGuarantee:
        """Return the guarantee of all measurements and of everything computed from them.

        Parameters
        ----------
        held : str
            Names of the exact totals in addition to the number of people.
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

    def rows(self, schema: Schema) -> list[dict[str, Any]]:
        """Return level, query, answers, share of the total, loss and variance of each query."""
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
    """Queries of one level; their answers follow each other in the order of `queries`.

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
        """Return a mask of the answers to some queries, bool (answers,)."""
        return np.repeat([query in queries for query in self.queries], self.counts)


def workload(schema: Schema, budget: Budget, level: str) -> Workload:
    """Return the workload of a level.

    Raises
    ------
    InputError
        If the level does not measure "detail", so that the cells are not identified.
    """
    queries = budget.measured_queries(level)
    if not any(len(schema.kept_axes(query)) == len(schema.axes) for query in queries):
        raise InputError(
            f"budget: level {level!r} does not measure {DETAIL!r}; give this query a share"
        )
    counts = tuple(schema.answers(query) for query in queries)
    return Workload(
        queries=queries,
        rows=schema.margins(queries).sparse,
        losses=tuple(budget.loss(level, query) for query in queries),
        counts=counts,
        weights=np.repeat([1 / budget.variance(level, query) for query in queries], counts),
    )


def _shares(of: str, given: Mapping[str, Any]) -> dict[str, Fraction]:
    shares = {
        name: parse_rational(f"budget: the share of {name!r} in {of}", share)
        for name, share in given.items()
    }
    if any(share < 0 for share in shares.values()) or sum(shares.values()) != 1:
        raise InputError(
            f"budget: the shares of {of} must be 0 or more and add up to 1, but add up to "
            f"{sum(shares.values())}; give the share that is not spent to {ELSEWHERE!r}"
        )
    return shares
