"""Exact draws of l1 noise where many cells stand in the same totals: sums first, then shares.

The sums of the types come from `isdp.exact.sums`, in exact arithmetic, or for experiments from its
tries on tables of floating-point numbers (`isdp.exact.tabled`). Each is then shared out within its
type by two uniform compositions, as under a total of the type's own.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from isdp.checks import whole
from isdp.constraints.invariants import Invariants, cell_types
from isdp.errors import InputError
from isdp.exact.blocks import parts_of_draws, refuse_large_sums
from isdp.exact.coins import _geometric, _Words
from isdp.exact.compositions import add_up, share, words_from
from isdp.exact.rounding import share_error
from isdp.exact.secure_compositions import compose, parts, spans
from isdp.exact.sums import TypeSums
from isdp.exact.tabled import TabledSums, entries_needed
from isdp.exact.tries import refuse_bounds
from isdp.io.progress import progress, tracked
from isdp.mechanisms.base import Mechanism, energy_served

LARGEST_RATE = 1000
MOST_ENTRIES = 2**22  # of the tables of sums, some tens of megabytes


class _Typed:
    """Cells in the order of their types, and the sums of these.

    Type t holds the cells ``order[starts[t]:starts[t + 1]]``.
    """

    def __init__(self, invariants: Invariants, epsilon: Fraction):
        kind, first = cell_types(invariants)
        sizes = np.bincount(kind)
        self.order = np.argsort(kind, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.invariants = Invariants(invariants.sparse[:, first], invariants.names)
        self.sums = TypeSums(self.invariants, sizes, epsilon)


class TypedRelease:
    """Noise for a release; see `isdp.exact.release`.

    Parameters
    ----------
    invariants : Invariants
    epsilon : Fraction

    Raises
    ------
    InputError
        If a draw would take too many tries.
    """

    def __init__(self, invariants: Invariants, epsilon: Fraction):
        self._geometric, self._typed = _geometric(epsilon), _Typed(invariants, epsilon)

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        """Independent draws, int64 (draws, cells)."""
        order, starts = self._typed.order, self._typed.starts
        sums, less = self._typed.sums.draw(words, draws)
        more = sums + less
        noise = np.empty((draws, len(order)), dtype=np.int64)
        noise[:, order[starts[:-1]]] = sums  # which is all of it for a type of one cell
        sizes, together = np.diff(starts), spans(order, starts)
        with progress("drawing noise", draws * sum(len(cells) for _, cells in together)) as at:
            drawn = 0
            for first, part in parts(noise):
                for types, cells in together:
                    of, counts = slice(first, first + len(part)), np.tile(sizes[types], len(part))
                    shares = compose(words, more[of, types].ravel(), counts, self._geometric)
                    shares -= compose(words, less[of, types].ravel(), counts, self._geometric)
                    part[:, cells] = shares.reshape(len(part), len(cells))
                    drawn += shares.size
                    at(drawn)
        return noise


class TypedSampler:
    """Noise for experiments, in floating point.

    Parameters
    ----------
    invariants : Invariants
        Any integers; quick where few totals go across many disjoint ones.
    law : Mechanism
        Of weight exp(-rate ||u||_1), such as `GeneralizedLaplace`.

    Attributes
    ----------
    error : float
        Bound on the total variation distance between a draw's law and the law asked for. Sums so
        wide that tables of them would be large are exact.
    expected_tries : float
        From `isdp.exact.sums.TypeSums`.

    Raises
    ------
    InputError
        For another law, too many tries a draw, or sums that could pass 2^53.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> states_by_sex = np.arange(6000).reshape(3, 2, 1000)
    >>> totals = [*states_by_sex, states_by_sex[:, 0]]
    >>> held = Invariants.subsets([cells.ravel() for cells in totals], 6000)
    >>> noise = TypedSampler(held, GeneralizedLaplace(0.1)).sample(np.random.default_rng(1), 2)
    >>> noise.shape, int(abs(noise.reshape(2, 3, 2, 1000).sum(axis=(1, 3))).max())
    ((2, 6000), 0)
    """

    method = "sums of types"

    @staticmethod
    def fits(invariants: Invariants, law: Mechanism, lower=None) -> str:
        """Say why this sampler fits, or raise `InputError` with the reason why not."""
        refuse_bounds("sums of types", lower)
        energy_served("sums of types", law, [(1, False)])
        return "the norm is l1, and few totals go across disjoint ones"

    def __init__(self, invariants: Invariants, law: Mechanism):
        self.fits(invariants, law)
        self.invariants, rate = invariants, law.energy.rate
        if rate > LARGEST_RATE:
            raise InputError(f"sums of types: takes an epsilon of at most {LARGEST_RATE}")
        refuse_large_sums(invariants.cells, rate)
        self._typed = _Typed(invariants, Fraction(rate))
        sums = self._typed.sums
        self.expected_tries = sums.expected_tries
        self._tabled = TabledSums(sums) if entries_needed(sums) <= MOST_ENTRIES else None
        sizes, many = np.unique(np.diff(self._typed.starts), return_counts=True)
        errors = (share_error(cells, rate) for cells in sizes.tolist())
        self.error = sum(
            number * error for number, error in zip(many.tolist(), errors, strict=True)
        )
        if self._tabled is not None:
            self.error += self._tabled.error

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells), checked against the invariants."""
        draws = whole("exact", "draws", draws)
        if self._tabled is None:
            sums, less = self._typed.sums.draw(_Words(rng.bytes), draws)
        else:
            sums, less = self._tabled.draw(rng, draws)
        noise = np.empty((draws, self.invariants.cells), dtype=np.int64)
        order, starts, state = self._typed.order, self._typed.starts, words_from(rng)
        for part in tracked("drawing noise", parts_of_draws(draws, self.invariants.cells)):
            share(state, order, starts, sums[part] + less[part], less[part], noise[part])
        # cells of a type stand in the same totals: adding them up first takes a third of the time
        add_up(order, starts, noise, sums)
        self._typed.invariants.check(sums)
        return noise
