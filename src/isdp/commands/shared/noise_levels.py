"""Noise with a term for each total of given levels, for the rows of a table.

With `levels` alone, the levels are nested: "all" (the whole table), the columns of the regions from
the largest to the smallest, and "cell". With `groups`, a term belongs to a level of the regions and
a level of the groups, such as "county:total" or "state:cell". The levels of the groups are "total",
the columns of the groups, and "cell".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from isdp.accounting.guarantees import upper_decimal
from isdp.arrays import FloatArray, IntArray
from isdp.checks import parse_rational
from isdp.commands.shared.degrees_of_freedom import implies
from isdp.commands.shared.table import Table
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.exact.selection import select_sampler
from isdp.io.csv_files import quoted_names
from isdp.mechanisms.crossing import CrossingGaussian
from isdp.mechanisms.nested import NestedGaussian, NestedLaplace
from isdp.mechanisms.set_tree import CELL_LEVEL, SetTree
from isdp.streams import stream

ROOT_LEVEL, TOTAL_LEVEL = "all", "total"
MIN_DRAWS, MAX_DRAWS, MAX_DRAWN_NUMBERS = 20, 200, 10**7  # of draws, and of cells times draws
LEVELS = "levels.csv"  # the file of the terms and their errors
SetMechanism = NestedGaussian | NestedLaplace | CrossingGaussian
Flavour = Literal["pure", "zCDP"]
Method = Literal["exact", "bounded", "simulated"]  # as in `isdp.commands.shared.margins`
MAX_STEPS = 1000  # maximum number of steps of the search for the budget of given errors
ERROR_TOLERANCE = 1e-6  # relative tolerance of this search
MULTIPLES = 60  # maximum multiple of a move; the weights of larger multiples are negligible
NEGLIGIBLE = 1e-9  # a term below this share of the largest precision is left out
MIN_VARIANCE, CLASS_DIGITS = 1e-30, 9  # minimum variance, and digits of its logarithm


@dataclass(frozen=True)
class NoiseLevels:
    """The levels whose totals have a term, and the shares of the budget or the target errors.

    Parameters
    ----------
    levels : tuple of str
        Columns that name the regions, from the largest to the smallest.
    groups : tuple of str, optional
        Columns that group the cells of a region, from the largest to the smallest groups. None
        means that the noise has terms for regions and single cells only.
    shares : mapping of str to Fraction, optional
        Shares of the budget by name of the term, which add up to 1. By default all terms that are
        not held have equal shares.
    errors : mapping of str to Fraction, optional
        Maximum root mean square errors in persons, in place of a budget and shares.

    Raises
    ------
    InputError
        If names are repeated or reserved, the shares do not add up to 1, or shares and errors are
        both given.
    """

    levels: tuple[str, ...]
    groups: tuple[str, ...] | None = None
    shares: Mapping[str, Fraction] = field(default_factory=dict)
    errors: Mapping[str, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError("--levels: no column is named. Give one or several columns.")
        for option, columns in (("--levels", self.levels), ("--groups", self.groups or ())):
            reserved = {ROOT_LEVEL, TOTAL_LEVEL, CELL_LEVEL} & set(columns)
            if reserved:
                raise InputError(
                    f"{option}: {min(reserved)!r} is the name of a level of every table. Rename "
                    f"the column."
                )
        named = [*self.levels, *(self.groups or ())]
        repeated = [name for name in named if named.count(name) > 1]
        if repeated:
            raise InputError(
                f"--levels, --groups: the column {repeated[0]!r} is repeated. Give it once."
            )
        if self.shares and self.errors:
            raise InputError("--share, --error: both are given. Give one of them.")
        for option, given in (("--share", self.shares), ("--error", self.errors)):
            for name, value in given.items():
                if name not in self.names:
                    raise InputError(
                        f"{option}: there is no level {name!r}. Use {', '.join(self.names)}."
                    )
                if value <= 0:
                    raise InputError(f"{option}: {name}: the number must be positive.")
            if given and self.names[-1] not in given:
                raise InputError(
                    f"{option}: {self.names[-1]!r} is missing. Without it the noise of single "
                    f"cells is not bounded. Add {self.names[-1]}=NUMBER."
                )
        if self.shares and sum(self.shares.values()) != 1:
            raise InputError(
                f"--share: the shares add up to {float(sum(self.shares.values())):.6g}. They must "
                f"add up to 1."
            )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of a level of the regions and a level of the groups, if there are groups."""
        groups = () if self.groups is None else (TOTAL_LEVEL, *self.groups, CELL_LEVEL)
        return list(product((ROOT_LEVEL, *self.levels), groups))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all possible terms."""
        if self.groups is None:
            return (ROOT_LEVEL, *self.levels, CELL_LEVEL)
        return tuple(map(":".join, self.pairs))


class LevelError(NamedTuple):
    """The noise of all totals of one level.

    Attributes
    ----------
    name : str
    totals : int
        The number of totals.
    precision : Fraction
        1 / sigma^2 of the Gaussian term or epsilon of the Laplace term, and 0 without a term.
    rmse : float
        Root mean square over the totals of the standard deviation of the noise, in persons.
    max_sd : float
        The largest standard deviation, in persons.
    method : {"exact", "bounded", "simulated"}
        The method of both numbers, as in `isdp.commands.shared.margins`.
    rmse_error : float
        Two standard errors of a simulated `rmse`, and otherwise 0.
    node : int
        The node of a nested family with the largest standard deviation, or -1.
    """

    name: str
    totals: int
    precision: Fraction
    rmse: float
    max_sd: float
    method: Method = "bounded"
    rmse_error: float = 0.0
    node: int = -1


class TableLevels:
    """The families of sets that the levels define on the rows of a table.

    Parameters
    ----------
    levels : NoiseLevels
    table : Table
        Its counts are not used. With groups, the rows of each smallest region are together, and all
        regions list the same cells in the same order.

    Raises
    ------
    InputError
        If a column is missing, or the rows do not have the order that groups need.
    """

    def __init__(self, levels: NoiseLevels, table: Table) -> None:
        self.levels, self.table = levels, table
        for option, columns in (("--levels", levels.levels), ("--groups", levels.groups or ())):
            for column in columns:
                if column not in table.columns:
                    raise InputError(
                        f"{option}: {table.path} has no column {column!r}. Use some of "
                        f"{quoted_names(table.columns)}."
                    )
        self._refuse_equal_levels("--levels", levels.levels)
        self._refuse_equal_levels("--groups", levels.groups or ())
        if levels.groups is None:
            self.tree = _tree(table, levels.levels, np.arange(len(table)), levels.names)
        else:
            self.regions, self.groups = self._crossing_trees(levels.groups)

    def _refuse_equal_levels(self, option: str, columns: Sequence[str]) -> None:
        """Raise `InputError` if a level has the same sets as the level above it."""
        for number in range(1, len(columns)):
            above, here = (self.table.groups(columns[:n]) for n in (number, number + 1))
            if implies(above, here):
                raise InputError(
                    f"{option}: {columns[number]!r} does not divide the sets of "
                    f"{columns[number - 1]!r}. Name the columns from the largest sets to the "
                    f"smallest."
                )

    def _crossing_trees(self, groups: Sequence[str]) -> tuple[SetTree, SetTree]:
        table, levels = self.table, self.levels.levels
        width = regular_rows(table, levels, "--groups")
        first, inside = np.arange(0, len(table), width), np.arange(width)
        return (
            _tree(table, levels[:-1], first, (ROOT_LEVEL, *levels)),
            _tree(table, groups, inside, (TOTAL_LEVEL, *groups, CELL_LEVEL)),
        )

    def mechanism(self, invariants: Invariants, flavour: Flavour, budget: Fraction) -> SetMechanism:
        """Return the mechanism whose loss per person, epsilon or rho, is the budget.

        Raises
        ------
        InputError
            If a level with a share is held.
        """
        free = self._free_names(invariants)
        self._refuse_held("--share", self.levels.shares, free)
        shares = self.levels.shares or dict.fromkeys(free, Fraction(1, len(free)))
        factor = budget / Fraction(self._mechanism(shares, flavour).guarantee_of(invariants).loss)
        return self._mechanism({name: factor * share for name, share in shares.items()}, flavour)

    def _mechanism(self, precisions: Mapping[str, Fraction], flavour: Flavour) -> SetMechanism:
        """Return the mechanism with a precision, 1 / sigma^2 or epsilon, for each term."""
        variances = {name: 1 / value for name, value in precisions.items()}
        if self.levels.groups is None:
            if flavour == "pure":
                return NestedLaplace(self.tree, precisions)
            return NestedGaussian(self.tree, variances)
        if flavour == "pure":
            raise InputError(
                "--groups: noise with groups is Gaussian. Give --rho, or leave out the groups."
            )
        pairs = dict(zip(self.levels.names, self.levels.pairs, strict=True))
        return CrossingGaussian(
            self.regions, self.groups, {pairs[name]: value for name, value in variances.items()}
        )

    def certified(self, terms: object) -> SetMechanism:
        """Return the mechanism with the terms of a certificate, from `describe_levels`.

        Raises
        ------
        InputError
            If the terms are invalid.
        """
        precisions: dict[str, Fraction] = {}
        flavour: Flavour = "zCDP"
        try:
            for term in terms:  # type: ignore[attr-defined]
                flavour = "pure" if "epsilon" in term else "zCDP"
                text = term["epsilon" if flavour == "pure" else "variance"]
                if text is not None:
                    value = parse_rational(f"certificate: {term['level']}", text)
                    precisions[term["level"]] = value if flavour == "pure" else 1 / value
            return self._mechanism(precisions, flavour)
        except (KeyError, TypeError, ZeroDivisionError) as wrong:
            raise InputError(
                f"certificate: the levels are invalid ({wrong!r:.60}). Use an unchanged certificate"
            ) from None

    def _free_names(self, invariants: Invariants) -> list[str]:
        """List the levels whose totals are not all held or implied by held totals."""
        mechanism = self._mechanism({self.levels.names[-1]: Fraction(1)}, "zCDP")
        return [one.name for one in level_errors(mechanism, invariants) if one.max_sd > 0]

    def _refuse_held(self, option: str, names: Iterable[str], free: Sequence[str]) -> None:
        held = [name for name in names if name not in free]
        if held:
            raise InputError(
                f"{option}: {held[0]!r}: these totals are held exactly. Leave out this level."
            )

    def budget_for_errors(self, invariants: Invariants) -> tuple[Fraction, dict[str, Fraction]]:
        """Find rho and the shares of Gaussian noise whose errors are at most the target errors.

        The search multiplies each precision by the squared error divided by the squared target. In
        the end all precisions are multiplied by one number, so that every target is met. The root
        mean square errors are those of `level_errors`.

        Raises
        ------
        InputError
            If a level with a target is held.
        """
        targets = {name: float(target) for name, target in self.levels.errors.items()}
        self._refuse_held("--error", targets, self._free_names(invariants))

        def ratios(precisions: Mapping[str, Fraction]) -> dict[str, float]:
            errors = level_errors(self._mechanism(precisions, "zCDP"), invariants)
            return {e.name: (e.rmse / targets[e.name]) ** 2 for e in errors if e.name in targets}

        precisions = {name: Fraction(f"{target**-2:.9g}") for name, target in targets.items()}
        for _ in range(MAX_STEPS):
            found = ratios(precisions)
            scaled = {name: float(value) * found[name] for name, value in precisions.items()}
            negligible = NEGLIGIBLE * max(scaled.values())
            scaled = {name: value for name, value in scaled.items() if value > negligible}
            precisions = {name: Fraction(f"{value:.9g}") for name, value in scaled.items()}
            if all(abs(found[name] - 1) < ERROR_TOLERANCE for name in precisions):
                break
        excess = max(1.0, *ratios(precisions).values())
        factor = Fraction(math.ceil(excess * 10**6), 10**6)
        mechanism = self._mechanism({n: factor * x for n, x in precisions.items()}, "zCDP")
        whole = sum(precisions.values(), Fraction(0))
        shares = {name: value / whole for name, value in precisions.items()}
        return Fraction(mechanism.guarantee_of(invariants).loss), shares


def regular_rows(table: Table, levels: Sequence[str], option: str) -> int:
    """Return the number of cells of each smallest region, whose rows are together.

    Raises
    ------
    InputError
        If the regions do not have the same cells in the same order.
    """
    rest = [name for name in table.names if name not in levels]
    if not rest:
        raise InputError(
            f"--levels: {table.path}: no column except the levels describes the cells. Name fewer "
            f"levels."
        )
    region, cell = (pd.factorize(table.groups(names))[0] for names in (levels, rest))
    n_regions = int(region.max()) + 1
    width = len(table) // n_regions
    in_order = np.array_equal(region, np.repeat(np.arange(n_regions), width))
    if not in_order or not (cell.reshape(n_regions, width) == cell[:width]).all():
        raise InputError(
            f"{option}: {table.path}: the rows of each {levels[-1]} must be together, and each "
            f"{levels[-1]} must have the same cells in the same order. Sort the rows by "
            f"{', '.join([*levels, *rest])}, and add a row with count 0 for each missing cell."
        )
    return width


def level_errors(mechanism: SetMechanism, invariants: Invariants) -> list[LevelError]:
    """Find the errors of the totals of all levels of a mechanism.

    The variances of Gaussian noise are those of least squares, which are upper bounds. The
    variances of Laplace noise are exact, or simulated if their computation needs too much memory.
    """
    if isinstance(mechanism, CrossingGaussian):
        return _crossing_errors(mechanism, invariants)
    if isinstance(mechanism, NestedLaplace):
        return _laplace_errors(mechanism, invariants)
    variances = NestedAccuracy(mechanism, invariants).variance_bounds()
    return _errors_by_level(mechanism, variances, "bounded")


def _errors_by_level(
    mechanism: NestedGaussian | NestedLaplace, variances: FloatArray, method: Method
) -> list[LevelError]:
    tree = mechanism.tree
    found = []
    for number, name in enumerate(tree.levels):
        nodes = np.flatnonzero(tree.level_of == number)
        rate = mechanism.rate_of[nodes[0]]
        precision = Fraction(0) if rate < 0 else mechanism.rates[rate] * mechanism.power
        node = int(nodes[variances[nodes].argmax()])
        error = _level_error(name, precision, variances[nodes], 1)
        found.append(error._replace(method=method, node=node))
    return found


def _laplace_errors(mechanism: NestedLaplace, invariants: Invariants) -> list[LevelError]:
    """Find the variance of each class of nodes.

    Two nodes are in one class if they are on one level and have equal variances under Gaussian
    noise with the same rates.
    """
    tree, accuracy = mechanism.tree, NestedAccuracy(mechanism, invariants)
    first = np.unique(tree.level_of, return_index=True)[1]
    rates = zip(tree.levels, mechanism.rate_of[first].tolist(), strict=True)
    scales = {level: 1 / mechanism.rates[rate] for level, rate in rates if rate >= 0}
    gaussian = NestedAccuracy(NestedGaussian(tree, scales), invariants)
    keys = np.round(np.log(np.maximum(gaussian.variance_bounds(), MIN_VARIANCE)), CLASS_DIGITS)
    _, first, classes = np.unique(
        np.stack([keys, tree.level_of]), axis=1, return_index=True, return_inverse=True
    )
    classes = classes.ravel()
    try:
        variances = np.array([accuracy.variance(node) for node in first.tolist()])
        return _errors_by_level(mechanism, variances[classes], "exact")
    except InputError:
        pass  # the distributions are too wide for a grid
    sampler = select_sampler(mechanism, invariants)
    draws = max(MIN_DRAWS, min(MAX_DRAWS, MAX_DRAWN_NUMBERS // tree.cells))
    rng, sizes = stream(0, "levels"), np.bincount(classes)
    squares = np.empty((draws, len(sizes)))  # mean square of each class in each draw
    for square in squares:
        totals = tree.totals(sampler.sample(rng, 1))[0].astype(float)
        square[:] = np.bincount(classes, totals**2) / sizes
    found = _errors_by_level(mechanism, squares.mean(axis=0)[classes], "simulated")
    of_class = np.stack([np.bincount(classes, tree.level_of == i) for i in range(len(found))])
    errors = 2 * (squares @ (of_class / of_class.sum(axis=1, keepdims=True)).T).std(axis=0, ddof=1)
    return [
        one._replace(rmse_error=float(error) / math.sqrt(draws) / (2 * one.rmse) if one.rmse else 0)
        for one, error in zip(found, errors, strict=True)
    ]


def describe_levels(
    levels: NoiseLevels, mechanism: SetMechanism, invariants: Invariants
) -> dict[str, object]:
    """Describe the levels, their terms and their errors as values for JSON.

    The key `terms` has one entry for each level. Its key `variance` or `epsilon` has the exact
    parameter of the term as a string, or None without a term. The key `losses` has the loss of a
    move of one person. The loss depends on the levels of the smallest sets that contain both cells.
    """
    errors = level_errors(mechanism, invariants)
    parameter = "epsilon" if isinstance(mechanism, NestedLaplace) else "variance"
    whole = sum((one.precision for one in errors), Fraction(0))
    losses = mechanism.losses_by_level(invariants)
    terms = []
    for one in errors:
        value = one.precision if parameter == "epsilon" else 1 / (one.precision or 1)
        terms.append(
            {
                "level": one.name,
                "totals": one.totals,
                "share": float(one.precision / whole),
                parameter: str(value) if one.precision else None,
                "rmse": round_up(one.rmse),
                "max_sd": round_up(one.max_sd),
                "rmse_error": one.rmse_error,
                "errors_are": one.method if one.max_sd else "exact",
            }
        )
    return {
        "levels": list(levels.levels),
        "groups": None if levels.groups is None else list(levels.groups),
        "terms": terms,
        "losses": {
            name if isinstance(name, str) else ":".join(name): upper_decimal(loss)
            for name, loss in losses.items()
        },
    }


def round_up(value: float) -> float:
    """Round a bound up to six digits."""
    return float(upper_decimal(value))


def probability_unchanged_bound(mechanism: SetMechanism, invariants: Invariants) -> float:
    """Bound the probability that a cell from which one person can move has no noise.

    Let v be a move of one person. The probability of the noise k v is at least exp(-k^p loss) times
    the probability of no noise, where loss is the loss per person. The exponent p is 2 for Gaussian
    noise and 1 for Laplace noise.
    """
    guarantee = mechanism.guarantee_of(invariants)
    power = 2 if guarantee.flavour == "zCDP" else 1
    multiples = np.arange(1, MULTIPLES + 1, dtype=float) ** power
    return 1 / (1 + 2 * float(np.exp(-float(guarantee.loss) * multiples).sum()))


def _crossing_errors(mechanism: CrossingGaussian, invariants: Invariants) -> list[LevelError]:
    regions, groups = mechanism.regions, mechanism.groups
    found: dict[tuple[int, int], LevelError] = {}
    for j, group in enumerate(groups.levels):
        members = np.flatnonzero(groups.level_of == j)
        weights = np.zeros(groups.cells)
        weights[groups.incidence[[members[0]]].indices] = 1
        variances = mechanism.query_variances(weights, invariants)
        for i, region in enumerate(regions.levels):
            of_level = variances[regions.level_of == i]
            name, precision = f"{region}:{group}", mechanism.precisions[i][j]
            found[i, j] = _level_error(name, precision, of_level, len(members))
    return [found[key] for key in sorted(found)]


def _level_error(name: str, precision: Fraction, variances: FloatArray, times: int) -> LevelError:
    rmse, max_sd = math.sqrt(variances.mean()), math.sqrt(variances.max())
    return LevelError(name, times * len(variances), precision, rmse, max_sd)


def _tree(table: Table, columns: Sequence[str], rows: IntArray, names: tuple[str, ...]) -> SetTree:
    """Build the tree of some rows of a table, with the names of its levels."""
    labels = {name: table.columns[name].codes[rows] for name in columns}
    n = len(rows)
    if not labels:
        return SetTree(n, np.append(np.full(n, n), -1), names, np.append(np.ones(n, int), 0))
    tree = SetTree.from_columns(labels)
    return SetTree(n, tree.parents, names, tree.level_of)
