"""Gaussian noise whose energy has a term for each pair of a set of regions and a set of cells.

The table has one row per region and the same cells in each row. There is a tree of regions (such as
nation, states and counties) and a tree of cells (such as total, groups and cells). For a set a of
regions and a set b of cells, S_ab(u) is the total of the noise u. The energy is q(u) = sum of
S_ab(u)^2 / sigma^2, with one sigma for each pair of levels. The noise has P(u) proportional to
exp(-q(u) / 2) on the integer vectors with A u = 0. There is no Laplace noise of this form, because
the exact sampler completes squares.

The privacy guarantee is that of `isdp.mechanisms.nested`: rho = q(d) / 2 for two tables that differ
by the lattice vector d. Consider a move of one person between two cells. For each pair of levels
whose sets separate the two cells, S_ab(d) is 1 for one total and -1 for another. The loss is
therefore the sum of 1 / sigma^2 over these pairs of levels. If the invariants let no person move
alone, the smallest change is an exchange: two persons of two regions exchange their cells. Then
q(d) has four terms for each pair of levels that separates both the regions and the cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.accounting.guarantees import EQUAL_INVARIANTS, Growth, PrivacyGuarantee
from isdp.checks import ExactNumber, parse_rational
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.mechanisms.base import CrossingEnergy, Mechanism
from isdp.mechanisms.crossing_modes import CrossingModes, held_levels
from isdp.mechanisms.nested import GAUSSIAN_SOURCE, MAX_VARIANCE, MIN_VARIANCE
from isdp.mechanisms.set_tree import MAX_DEPTH, SetTree

EXCHANGE = (
    f"{EQUAL_INVARIANTS} that differ by one exchange of cells between two persons of two regions, "
    f"because these invariants let no person change cell alone"
)


@dataclass(frozen=True, init=False, eq=False)
class CrossingGaussian(Mechanism):
    """Noise u with P(u) proportional to exp(-sum of S_ab(u)^2 / (2 sigma^2)).

    The cells of the noise are in row-major order: all cells of the first region come first. The
    covariances are at most those of the best linear unbiased estimate from independent
    measurements of the same totals, with the same privacy loss.

    Parameters
    ----------
    regions : SetTree
        Its cells are the regions that the rows of the table describe, such as counties.
    groups : SetTree
        Its cells are the columns of the table. The sets of one level have equal sizes.
    variances : dict of (str, str) to Fraction, int, str or float
        The sigma^2 of each pair of a level of the regions and a level of the groups. A pair that is
        missing has no term. The pair of both last levels is necessary, because the energy would
        otherwise not be positive definite. A float denotes its shortest decimal form.

    Attributes
    ----------
    precisions : tuple of tuples of Fraction
        ``precisions[i][j]`` is 1 / sigma^2 for level i of the regions and level j of the groups. It
        is 0 if there is no term.

    Raises
    ------
    InputError
        If a variance is not between 1e-6 and 1e20, a level is unknown, or the pair of both last
        levels is missing. The error is also raised if a tree has no set of all its cells, or a node
        is in no set of the level above it. Sets of one level of the groups must have equal sizes.

    Examples
    --------
    >>> regions = SetTree.from_columns({"state": ["a", "a", "b", "b"]}, root="nation")
    >>> groups = SetTree.from_columns({"age": ["child", "child", "adult", "adult"]}, root="total")
    >>> variances = {("cell", "cell"): 2, ("cell", "total"): 4, ("state", "age"): "5/2"}
    >>> noise = CrossingGaussian(regions, groups, variances)
    >>> noise.guarantee_of(Invariants.total(16)).loss_per_person
    Fraction(23, 20)
    """

    regions: SetTree
    groups: SetTree
    precisions: tuple[tuple[Fraction, ...], ...]

    name: ClassVar[str] = "crossing Gaussian"
    energy: ClassVar[None] = None

    def __init__(
        self,
        regions: SetTree,
        groups: SetTree,
        variances: Mapping[tuple[str, str], ExactNumber],
    ) -> None:
        _check_levels("regions", regions)
        _check_levels("groups", groups)
        for level in range(len(groups.levels)):
            sizes = groups.sizes[groups.level_of == level]
            if (sizes != sizes[0]).any():
                raise InputError(
                    f"groups: the sets of level {groups.levels[level]!r} have different sizes. Use "
                    f"groups of equal sizes, or a nested family"
                )
        pairs = [(region, group) for region in regions.levels for group in groups.levels]
        for pair in variances:
            if pair not in pairs:
                raise InputError(
                    f"variances: unknown pair of levels {pair!r}. Give a level of the regions "
                    f"({', '.join(regions.levels)}) and one of the groups "
                    f"({', '.join(groups.levels)})"
                )
        if pairs[-1] not in variances:
            raise InputError(f"variances: the pair {pairs[-1]!r} is missing. Give its variance")
        precisions = tuple(
            tuple(_precision(variances, (region, group)) for group in groups.levels)
            for region in regions.levels
        )
        object.__setattr__(self, "regions", regions)
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "precisions", precisions)

    @property
    def set_energy(self) -> CrossingEnergy:
        """The log-weight, with exact precisions."""
        return CrossingEnergy(self.regions, self.groups, self.precisions)

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The privacy guarantee under any invariants; see `guarantee_of`."""
        return self.guarantee_of(None)

    def guarantee_of(self, invariants: Invariants | None) -> PrivacyGuarantee:
        """Bound the loss per person under given invariants.

        The change is a move of one person to another cell. Without invariants, the bound also
        covers a person who arrives or leaves. If no person can move alone, the change is an
        exchange of cells between two persons, and the guarantee states this. If the loss of several
        persons who change cells together can exceed that of several moves, the guarantee has the
        growth "none".

        Parameters
        ----------
        invariants : Invariants or None
            Totals of all sets of one or more pairs of levels. None means that the invariants are
            not known. The bound then holds for every change of one person.

        Returns
        -------
        PrivacyGuarantee
            The privacy unit is one person. The loss is an exact fraction, and a pair of tables
            attains it.
        """
        losses = [*self.losses_by_level(invariants).values(), self.arrival_loss(invariants)]
        relation = EQUAL_INVARIANTS
        growth: Growth = "quadratic"
        if not any(losses):
            losses, relation = [self.exchange_loss(invariants)], EXCHANGE
        elif max(losses) < self._loss_in_company(invariants):
            growth = "none"
        return PrivacyGuarantee(
            "zCDP",
            max(losses),
            "person",
            1,
            GAUSSIAN_SOURCE,
            growth=growth,
            relation=relation,
        )

    def _loss_in_company(self, invariants: Invariants | None) -> Fraction:
        """Return the largest loss of a move, including moves that are possible only with others.

        The square root of q, without the terms of held totals, is a seminorm of all integer
        vectors. The loss of k persons who move together is at most k^2 times this loss.
        """
        held = self._held(invariants)
        first = [
            min(_split_levels(tree), default=MAX_DEPTH) for tree in (self.regions, self.groups)
        ]
        apart = [
            precision
            for i, row in enumerate(self.precisions)
            for j, precision in enumerate(row)
            if (i >= first[0] or j >= first[1]) and not held[i, j]
        ]
        return sum(apart, Fraction(0))

    def losses_by_level(self, invariants: Invariants | None) -> dict[tuple[str, str], Fraction]:
        """Compute the loss of a move of one person, by the levels of the move.

        The level of a move in a tree is that of the smallest set that contains both cells.

        Returns
        -------
        dict of (str, str) to Fraction
            The rho of each pair of a level of the regions and a level of the groups. Pairs without
            a possible move are omitted.
        """
        held = self._held(invariants)
        losses = {}
        for i in [*_split_levels(self.regions), len(self.regions.levels)]:
            for j in [*_split_levels(self.groups), len(self.groups.levels)]:
                # the sets of the levels from i and from j on contain only one of both cells
                if held[i:].any() or held[:, j:].any():
                    continue
                apart = [
                    precision
                    for level, row in enumerate(self.precisions)
                    for precision in (row if level >= i else row[j:])
                ]
                if apart:
                    pair = self.regions.levels[i - 1], self.groups.levels[j - 1]
                    losses[pair] = sum(apart, Fraction(0))
        return losses

    def arrival_loss(self, invariants: Invariants | None) -> Fraction:
        """Compute the loss if one person arrives or leaves. It is 0 if a total is held."""
        if self._held(invariants).any():
            return Fraction(0)
        return sum((sum(row, Fraction(0)) for row in self.precisions), Fraction(0)) / 2

    def exchange_loss(self, invariants: Invariants | None) -> Fraction:
        """Compute the largest loss of an exchange of cells between two persons of two regions.

        It is 0 if no exchange keeps the invariants.
        """
        held = self._held(invariants)
        losses = [
            2 * sum((sum(row[j:], Fraction(0)) for row in self.precisions[i:]), Fraction(0))
            for i in _split_levels(self.regions)
            for j in _split_levels(self.groups)
            if not held[i:, j:].any()
        ]
        return max(losses, default=Fraction(0))

    def query_variances(
        self, weights: ArrayLike, invariants: Invariants | None = None
    ) -> NDArray[np.float64]:
        """Compute the variances of a weighted sum of cells in all sets of regions.

        The results are the variances of real-valued noise with the same energy. They are equal to
        the variances of the best linear unbiased estimate. The variances of the integer noise are
        not larger.

        Parameters
        ----------
        weights : array_like, shape (columns,)
            The weight of each column of the table.

        Returns
        -------
        float64 array, shape (nodes,)
            The variance for each node of the tree of the regions.

        Examples
        --------
        >>> regions = SetTree.from_columns({"state": ["a", "a"]}, root="nation")
        >>> groups = SetTree.from_columns({"age": ["child", "adult"]}, root="total")
        >>> noise = CrossingGaussian(regions, groups, {("cell", "cell"): 8})
        >>> noise.query_variances([1, 1], Invariants.total(4)).round(3).tolist()
        [8.0, 8.0, 0.0, 0.0]
        """
        modes = CrossingModes(self.set_energy, self._held(invariants))
        return modes.query_variances(np.asarray(weights, dtype=float))

    def _held(self, invariants: Invariants | None) -> NDArray[np.bool_]:
        if invariants is None:
            return np.zeros((len(self.regions.levels), len(self.groups.levels)), dtype=bool)
        return held_levels(self.regions, self.groups, invariants)

    def noise_norm(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the square root of q(u) / 2 for each noise vector u."""
        noise = np.asarray(noise)
        shape = self.regions.cells, self.groups.cells
        if noise.ndim == 0 or noise.shape[-1] != math.prod(shape):
            raise InputError(f"noise: the last axis must have {shape[0]} x {shape[1]} cells")
        rows = self.groups.totals(noise.reshape(*noise.shape[:-1], *shape))
        totals = self.regions.totals(np.swapaxes(rows, -1, -2))
        precisions = np.array([[float(p) for p in row] for row in self.precisions])
        weights = precisions[self.regions.level_of[None, :], self.groups.level_of[:, None]]
        energy = (np.square(totals.astype(float)) * weights).sum(axis=(-1, -2))
        return np.asarray(np.sqrt(energy / 2))

    def log_weight(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return -q(u) / 2 for each noise vector u."""
        return -(self.noise_norm(noise) ** 2)

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Approximate the magnitude of the noise in one cell by the term of the cell alone."""
        return math.sqrt(dimension / cells / float(self.precisions[-1][-1]))

    def radius(self, dimension: int) -> float:
        """Bound the norm of a draw, up to a probability below 1e-20."""
        return math.sqrt(dimension) + 12

    def as_dict(self) -> dict[str, object]:
        """Return the name, and the exact variance of each pair of levels, as values for JSON."""
        variances = {
            f"{region} x {group}": str(1 / precision)
            for region, row in zip(self.regions.levels, self.precisions, strict=True)
            for group, precision in zip(self.groups.levels, row, strict=True)
            if precision
        }
        return {"name": self.name, "variances": variances}


def _check_levels(name: str, tree: SetTree) -> None:
    """Raise `InputError` unless the i-th level has the nodes of depth i, and one root."""
    cells_deepest = (tree.depths[: tree.cells] == len(tree.levels) - 1).all()
    if not cells_deepest or (tree.depths != tree.level_of).any():
        raise InputError(
            f"{name}: each cell and each set must be in one set of the level above it. Complete "
            f"the labels of the tree"
        )
    if (tree.depths == 0).sum() != 1:
        raise InputError(f"{name}: the tree must have one set of all its cells. Add this set")


def _split_levels(tree: SetTree) -> list[int]:
    """List the levels in which a node has a sibling."""
    n_children = np.bincount(tree.parents[tree.parents >= 0], minlength=tree.nodes)
    levels: list[int] = (np.unique(tree.level_of[n_children > 1]) + 1).tolist()
    return levels


def _precision(variances: Mapping[tuple[str, str], ExactNumber], pair: tuple[str, str]) -> Fraction:
    if pair not in variances:
        return Fraction(0)
    variance = parse_rational(f"variances: {pair!r}", variances[pair])
    if not MIN_VARIANCE <= variance <= MAX_VARIANCE:
        raise InputError(
            f"variances: {pair!r} must be between 1e-6 and 1e20. Omit a pair without a term"
        )
    return 1 / variance
