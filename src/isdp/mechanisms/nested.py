"""Noise whose energy has a term for each set of a nested family of cells.

The sets form a tree, such as nation, states, counties and cells. Let S_v(u) be the sum of the noise
u over the set v. On the integer vectors with A u = 0, the Gaussian noise has P(u) proportional to
exp(-sum of S_v(u)^2 / (2 sigma_v^2)). The Laplace noise has P(u) proportional to exp(-sum of
epsilon_v |S_v(u)|). If only the cells have terms, with equal scales, they are `GeneralizedGaussian`
and `GeneralizedLaplace`.

Two tables with equal invariants differ by a lattice vector d. Let -q(u) / 2 be the exponent of the
Gaussian noise. By completing the square, the Renyi divergence of order a is a q(d) / 2 +
ln(L' / L) / (a - 1). Here L is the sum of exp(-q/2) over the lattice, and L' is the sum over a
shifted lattice. By Poisson's summation formula L' <= L. The release is therefore zCDP with
rho = q(d) / 2. The Laplace energy is a norm, so that the triangle inequality gives epsilon-DP with
epsilon equal to the energy of d. Both sqrt(q) and the Laplace energy are norms. The loss of k moves
of one person is therefore at most k^2 or k times the largest loss of one move.

If the invariants are nested, each change of k persons that keeps them consists of at most k changes
of one person that keep them. The reason is that the changes of cells in the same totals add up to
zero, and that cells in no total are free. Under overlapping totals, two persons who exchange cells
may change totals that no single move can change.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.accounting.guarantees import Growth, PrivacyGuarantee
from isdp.arrays import distinct_columns
from isdp.checks import ExactNumber, parse_rational
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError
from isdp.mechanisms.base import Energy, Mechanism, NestedEnergy
from isdp.mechanisms.generalized_laplace import bound_gamma
from isdp.mechanisms.set_tree import SetTree

Scales = Mapping[str, ExactNumber] | Sequence[ExactNumber | None] | NDArray[np.generic]

MIN_VARIANCE, MAX_VARIANCE = Fraction(1, 10**6), Fraction(10**20)
MIN_EPSILON, MAX_EPSILON = Fraction(1, 10**14), Fraction(1000)
NO_SET = "no common set"
GAUSSIAN_SOURCE = "completed square, and Poisson's summation formula"
LAPLACE_SOURCE = "triangle inequality of the energy, which is a norm"
ONLY_TOGETHER = (
    "these invariants let no person change cell alone. The loss holds for several persons who "
    "change cells together"
)


@dataclass(frozen=True, init=False, eq=False)
class _Nested(Mechanism):
    tree: SetTree
    rates: tuple[Fraction, ...]
    rate_of: NDArray[np.int64]

    power: ClassVar[int]

    @property
    def set_energy(self) -> NestedEnergy:
        """The log-weight, with exact rates."""
        return NestedEnergy(self.power, self.tree, self.rates, self.rate_of)

    @property
    def exact_energy(self) -> Energy | None:
        """The log-weight with its exact rate if only cells have terms and rates are equal."""
        cells = self.tree.cells
        alike = len(self.rates) == 1 and not self.rate_of[:cells].any()
        if not alike or (self.rate_of[cells:] >= 0).any():
            return None
        return Energy(self.power, False, self.rates[0])

    @property
    def energy(self) -> Energy | None:
        """The log-weight if only the cells have terms, with equal rates."""
        exact = self.exact_energy
        return None if exact is None else exact._replace(rate=float(exact.rate))

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The privacy guarantee under any invariants; see `guarantee_of`."""
        return self.guarantee_of(None)

    def guarantee_of(self, invariants: Invariants | None) -> PrivacyGuarantee:
        """Bound the loss per person under given invariants.

        The bound is for one person who moves between two cells with the same totals. If a cell is
        in no total, the bound also covers a person who arrives or leaves. Totals that the
        invariants hold add no loss. If the invariants overlap, the loss of several persons can
        exceed that of several such changes. The guarantee then has the growth "none", or no loss
        per person if no person can change alone.

        Parameters
        ----------
        invariants : Invariants or None
            None means that the invariants are not known. The bound then holds under any invariants.

        Returns
        -------
        PrivacyGuarantee
            The privacy unit is one person, and the loss is an exact fraction.
        """
        losses = [*self.losses_by_level(invariants).values(), self.arrival_loss(invariants)]
        gaussian, loss = self.power == 2, max(losses)
        growth: Growth = "quadratic" if gaussian else "linear"
        alone = True
        if invariants is not None and not _are_nested(invariants):
            alone, largest = loss > 0, self.guarantee.loss
            if not alone:
                loss = Fraction(largest)
            elif largest > loss:
                growth = "none"
        return PrivacyGuarantee(
            "zCDP" if gaussian else "pure",
            loss,
            "person",
            1 if alone else None,
            GAUSSIAN_SOURCE if gaussian else LAPLACE_SOURCE,
            growth=growth,
            why_not_per_person="" if alone else ONLY_TOGETHER,
        )

    def losses_by_level(self, invariants: Invariants | None) -> dict[str, Fraction]:
        """Compute the largest loss of a move of one person, by the level of the move.

        The level of a move is that of the smallest set that contains both cells. The level is "no
        common set" if no set contains both cells. The loss is the sum of the rates of the sets that
        contain exactly one of the two cells. A pair of tables attains it.

        Returns
        -------
        dict of str to Fraction
            Levels without a possible move are omitted. The losses are rho or epsilon.
        """
        tree = self.tree
        group = np.zeros(tree.cells, dtype=np.int64)
        if invariants is not None:
            group = find_cell_classes(_of_same_cells(invariants, tree))[0]
        node, path = np.arange(tree.cells), RateSums(self.rates, tree.cells)
        path.add(self.rate_of[node])
        height = int(tree.depths.max())
        found: dict[str, Fraction] = {}
        for depth in range(height, -1, -1):
            at_depth = tree.depths[node] == depth
            above = np.where(at_depth, tree.parents[node], node)
            # the cells of one group within one node are represented by their largest sum of rates
            order = np.lexsort((-path.ranks, group, above))
            starts = np.ones(len(order), dtype=bool)
            starts[1:] = (np.diff(above[order]) != 0) | (np.diff(group[order]) != 0)
            second = np.flatnonzero(~starts & np.roll(starts, 1))
            levels = np.append(tree.level_of, -1)[above[order[second]]]
            ranks = path.ranks[order]
            moves, _ = distinct_columns(ranks[second - 1], ranks[second], levels)
            for first, other, level in moves.T.tolist():
                loss = path.values[first] + path.values[other]
                name = NO_SET if level < 0 else tree.levels[level]
                found[name] = max(loss, found.get(name, loss))
            kept = order[starts]
            node, group, at_depth = above[kept], group[kept], at_depth[kept]
            path.select(kept)
            inside = node >= 0
            path.add(np.where(at_depth & inside, self.rate_of[node], -1))
            node, group = node[inside], group[inside]
            path.select(inside)
        names = [NO_SET, *tree.levels]
        return {name: found[name] for name in names if name in found}

    def arrival_loss(self, invariants: Invariants | None) -> Fraction:
        """Compute the largest loss if one person arrives or leaves in a cell without a total.

        It is 0 if the invariants have a total of each cell.
        """
        tree = self.tree
        node, path = np.arange(tree.cells), RateSums(self.rates, tree.cells)
        path.add(self.rate_of[node])
        if invariants is not None:
            totals = np.diff(_of_same_cells(invariants, tree).sparse.tocsc().indptr)
            node = np.flatnonzero(totals == 0)
            path.select(node)
        for _ in range(int(tree.depths.max())):
            node = np.where(node >= 0, tree.parents[node], -1)
            path.add(np.where(node >= 0, self.rate_of[node], -1))
        return path.values[path.ranks.max()] if len(node) else Fraction(0)

    def noise_norm(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the square root of the Gaussian energy, or the Laplace energy."""
        totals = np.abs(self.tree.totals(noise)).astype(float) ** self.power
        rates = np.append([float(rate) for rate in self.rates], 0.0)[self.rate_of]
        return np.asarray((totals @ rates) ** (1 / self.power))

    def log_weight(self, noise: ArrayLike) -> NDArray[np.float64]:
        """Return the negative energy of each noise vector."""
        return -(self.noise_norm(noise) ** self.power)

    def cell_scale(self, dimension: int, cells: int) -> float:
        """Approximate the magnitude of the noise in one cell by the term of the cell alone."""
        used = np.unique(self.rate_of[: self.tree.cells])
        rate = float(min((self.rates[i] for i in used if i >= 0), default=min(self.rates)))
        return float((dimension / cells / rate) ** (1 / self.power))

    def radius(self, dimension: int) -> float:
        """Bound the norm of a draw, up to a probability below 1e-20."""
        gaussian = math.sqrt(dimension) + 12
        return gaussian if self.power == 2 else bound_gamma(dimension, 1)

    def as_dict(self) -> dict[str, object]:
        """Return the name, and the exact rates of each level, as values for JSON."""
        levels: dict[str, list[str]] = {}
        pairs, _ = distinct_columns(self.tree.level_of, self.rate_of)
        for level, rate in sorted(pairs.T.tolist()):
            if rate >= 0:
                levels.setdefault(self.tree.levels[level], []).append(str(self.rates[rate]))
        return {"name": self.name, "rates": levels}


class NestedGaussian(_Nested):
    """Noise u with P(u) proportional to exp(-sum over sets v of S_v(u)^2 / (2 sigma_v^2)).

    The covariances of the noise are at most those of a best linear unbiased estimate. This estimate
    uses independent measurements of the totals of the same sets, with the same privacy loss.

    Parameters
    ----------
    tree : SetTree
    variances : dict of str, or sequence of shape (nodes,), to Fraction, int, str or float
        The sigma_v^2 of each level by its name, or of each node. A missing level and a
        node with None have no term. A float denotes its shortest decimal form.

    Raises
    ------
    InputError
        If a variance is not between 1e-6 and 1e20, a level is unknown, or there is no term.

    Examples
    --------
    >>> tree = SetTree.from_columns({"region": ["a", "a", "b", "b"]})
    >>> noise = NestedGaussian(tree, {"region": 1, "cell": "3/2"})
    >>> noise.guarantee_of(Invariants.total(4)).loss_per_person
    Fraction(5, 3)
    """

    name: ClassVar[str] = "nested Gaussian"
    power: ClassVar[int] = 2

    def __init__(self, tree: SetTree, variances: Scales) -> None:
        limits = MIN_VARIANCE, MAX_VARIANCE
        scales, scale_of = _read_scales(tree, "variances", variances, limits)
        _set_fields(self, tree, [1 / (2 * variance) for variance in scales], scale_of)


class NestedLaplace(_Nested):
    """Noise u with P(u) proportional to exp(-sum over sets v of epsilon_v |S_v(u)|).

    Parameters
    ----------
    tree : SetTree
    epsilons : dict of str, or sequence of shape (nodes,), to Fraction, int, str or float
        The epsilon_v of each level by its name, or of each node. A missing level and a
        node with None have no term. A float denotes its shortest decimal form.

    Raises
    ------
    InputError
        If an epsilon is not between 1e-14 and 1000, a level is unknown, or there is no term.

    Examples
    --------
    >>> tree = SetTree.from_columns({"region": ["a", "a", "b", "b"]})
    >>> noise = NestedLaplace(tree, {"region": "1/2", "cell": "1/4"})
    >>> noise.losses_by_level(Invariants.total(4))
    {'root': Fraction(3, 2), 'region': Fraction(1, 2)}
    """

    name: ClassVar[str] = "nested Laplace"
    power: ClassVar[int] = 1

    def __init__(self, tree: SetTree, epsilons: Scales) -> None:
        limits = MIN_EPSILON, MAX_EPSILON
        _set_fields(self, tree, *_read_scales(tree, "epsilons", epsilons, limits))


class RateSums:
    """Exact sums of rates, one for each item, as ranks of their distinct values.

    Parameters
    ----------
    rates : sequence of Fraction
        The rates that `add` can add.
    items : int
        The number of items, whose sums are 0 at first.

    Attributes
    ----------
    values : list of Fraction
        The distinct sums in ascending order.
    ranks : int64 array, shape (items,)
        Index of each item's sum in `values`.
    """

    def __init__(self, rates: Sequence[Fraction], items: int):
        self.rates = [Fraction(0), *rates]
        self.values, self.ranks = [Fraction(0)], np.zeros(items, dtype=np.int64)

    def select(self, items: NDArray[np.generic]) -> None:
        """Keep some items, by a mask or by their indices."""
        self.ranks = self.ranks[items]

    def add(self, rate_of: NDArray[np.int64]) -> None:
        """Add to each item the rate with the given index, or nothing if the index is -1."""
        pairs, where = distinct_columns(self.ranks, rate_of + 1)
        sums = [self.values[rank] + self.rates[rate] for rank, rate in pairs.T.tolist()]
        self.values = sorted(set(sums))
        rank_of = {value: rank for rank, value in enumerate(self.values)}
        self.ranks = np.array([rank_of[value] for value in sums], dtype=np.int64)[where]


def _of_same_cells(invariants: Invariants, tree: SetTree) -> Invariants:
    if invariants.cells != tree.cells:
        raise InputError(
            f"invariants: they have {invariants.cells} cells, and the tree has {tree.cells}. Use "
            f"the same cells in both"
        )
    return invariants


def _are_nested(invariants: Invariants) -> bool:
    """Return True if the invariants are totals of sets of a nested family.

    The totals are nested if all cells of each total have the same next larger total.
    """
    a = invariants.sparse
    sizes = np.diff(a.indptr)
    row, size = np.repeat(np.arange(len(sizes)), sizes), np.repeat(sizes, sizes)
    order = np.lexsort((row, -size, a.indices))
    cell, sorted_row = a.indices[order], row[order]
    larger = np.empty_like(row)
    larger[order] = np.where(np.diff(cell, prepend=-1) == 0, np.roll(sorted_row, 1), -1)
    starts = a.indptr[:-1][sizes > 0]
    return not len(starts) or all(
        bool((np.minimum.reduceat(x, starts) == np.maximum.reduceat(x, starts)).all())
        for x in (larger, a.data)
    )


def _set_fields(
    mechanism: _Nested, tree: SetTree, rates: Iterable[Fraction], rate_of: NDArray[np.int64]
) -> None:
    rate_of.setflags(write=False)
    object.__setattr__(mechanism, "tree", tree)
    object.__setattr__(mechanism, "rates", tuple(rates))
    object.__setattr__(mechanism, "rate_of", rate_of)


def _read_scales(
    tree: SetTree, name: str, scales: Scales, limits: tuple[Fraction, Fraction]
) -> tuple[list[Fraction], NDArray[np.int64]]:
    """Return the distinct scales, and the index of each node's scale; -1 if it has none."""
    if isinstance(scales, Mapping):
        unknown = [level for level in scales if level not in tree.levels]
        if unknown:
            raise InputError(
                f"{name}: unknown level {unknown[0]!r}. The levels are {', '.join(tree.levels)}"
            )
        given: list[object] = [scales.get(level) for level in tree.levels]
        node_of = tree.level_of
        labels = [f"{name}: {level}" for level in tree.levels]
    else:
        given = scales.tolist() if isinstance(scales, np.ndarray) else list(scales)
        node_of = np.arange(tree.nodes)
        if len(given) != tree.nodes:
            raise InputError(
                f"{name}: {len(given)} values for {tree.nodes} nodes of the tree. Give one value "
                f"for each node, and None for a node without a term"
            )
        labels = []
    index: dict[Fraction, int] = {}
    parsed: dict[tuple[type, object], int] = {}
    where = np.full(len(given), -1, dtype=np.int64)
    for i, value in enumerate(given):
        if value is None:
            continue
        hashable = isinstance(value, Hashable)  # false for a list, which is refused below
        key = type(value), value if hashable else None
        if key not in parsed:
            label = labels[i] if labels else f"{name}: node {i}"
            exact = parse_rational(label, value)
            if not limits[0] <= exact <= limits[1]:
                raise InputError(
                    f"{label} must be between {float(limits[0]):g} and {float(limits[1]):g}. Use "
                    f"None for a node without a term"
                )
            parsed[key] = index.setdefault(exact, len(index))
        where[i] = parsed[key]
    if not index:
        raise InputError(f"{name}: give the scale of one or more levels")
    return list(index), where[node_of]
