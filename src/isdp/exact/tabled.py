"""Sums of types for experiments: the tries of `isdp.exact.sums` compiled, on tables of their laws.

The sum of the noise in m cells has the characteristic function
(1 + sin^2(t / 2) / sinh^2(epsilon / 2))^-m, which a Fourier transform turns into a table. Beyond
the table lies a chance below exp(-60) by Chernoff's bound.
"""

from __future__ import annotations

import numpy as np

from isdp.exact.compositions import Local, Pairs, Tables, draw_types, words_from
from isdp.exact.rounding import UNIT
from isdp.exact.sums import Blocks, TypeSums
from isdp.io.progress import tracked

SUMS_AT_ONCE = 10**6  # some hundredths of a second, between which progress shows
CUT = 60  # minus the logarithm of what a table leaves out on either side
FINER = 2  # parts of a table's guide, an entry, at least
SHARES = np.linspace(0.01, 0.99, 99)  # of epsilon: where Chernoff's bound is tried


class TabledSums:
    """Draws of the sums of types, as `isdp.exact.sums.TypeSums` has set them up.

    Parameters
    ----------
    sums : TypeSums

    Attributes
    ----------
    error : float
        Bound on the total variation distance between a draw's law and the law asked for.
    """

    def __init__(self, sums: TypeSums):
        rate = float(sums.epsilon)
        sizes, kinds = np.unique(sums.sizes, return_inverse=True)
        of_sums = [_law_of_sum(m, rate) for m in sizes.tolist()]
        self._pairs, self._local = _pairs(sums, kinds, of_sums), _others(sums)
        self._tables = _together(of_sums)
        self._counts = _together([_law_of_count(m, rate) for m in sizes.tolist()])
        self._kinds, self._closing = kinds.astype(np.uint64), sums.closing
        self._tries = sums.expected_tries
        entries = np.diff(self._tables.start)[kinds] + np.diff(self._counts.start)[kinds]
        # weights off by a factor, as in `isdp.exact.rounding`. The sums at the ends of an entry are
        # rounded and uniforms are on a grid: some units of the whole, an entry. A transform is off
        # by some units of its largest entry, and ten of these make up the whole
        self.error = float((4 * entries + 500).sum()) * UNIT

    def draw(self, rng: np.random.Generator, draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent sums, and the lesser counts; see `TypeSums.draw`."""
        sums, less = (np.zeros((draws, len(self._kinds)), dtype=np.int64) for _ in range(2))
        laws = self._tables, self._kinds, self._counts, self._pairs, self._local, self._closing
        words = words_from(rng)
        rows = max(1, int(SUMS_AT_ONCE / (self._tries * len(self._kinds))))
        for first in tracked("drawing sums", range(0, draws, rows)):
            draw_types(words, *laws, sums[first : first + rows], less[first : first + rows])
        return sums, less


def entries_needed(sums: TypeSums) -> int:
    """Tell about how many entries the tables would have."""
    sizes, kinds = np.unique(sums.sizes, return_inverse=True)
    reach = np.array([_reach(m, float(sums.epsilon)) for m in sizes.tolist()])
    blocks = [kinds[group.types] for group in sums.local if _in_pairs(group)]
    pairs = np.unique(np.vstack([np.empty((0, 2), int), *blocks]), axis=0)
    return int(4 * reach.sum() + 2 * reach[pairs].min(axis=1).sum())


def _in_pairs(blocks: Blocks) -> bool:
    return blocks.held and blocks.types.shape[1] == 2


def _reach(m: int, rate: float) -> int:
    """Give a number that the sum of m cells' noise passes with a chance below exp(-CUT)."""
    t = rate * SHARES
    log_mean = 2 * np.log(np.sinh(rate / 2)) - np.log(np.sinh((rate - t) / 2))
    log_mean -= np.log(np.sinh((rate + t) / 2))  # of exp(t k), a cell's
    return int(((m * log_mean + CUT) / t).min()) + 1


def _law_of_sum(m: int, rate: float) -> tuple[int, np.ndarray]:
    reach = _reach(m, rate)
    length = 2 ** int(np.ceil(np.log2(2 * reach + 1)))
    waves = np.sin(np.pi * np.arange(length // 2 + 1) / length) / np.sinh(rate / 2)
    masses = np.fft.irfft(np.exp(-m * np.log1p(waves**2)), length)
    return -reach, np.maximum(np.concatenate([masses[-reach:], masses[: reach + 1]]), 0)


def _law_of_count(m: int, rate: float) -> tuple[int, np.ndarray]:
    """Sum of m geometric counts, by its ratios from the mode."""
    t, a = rate * SHARES, np.exp(-rate)

    def log_mean(t):  # of exp(t k), a count's
        return np.log1p(-a) - np.log1p(-a * np.exp(t))

    low = max(int((-(m * log_mean(-t) + CUT) / t).max()), 0)
    high = int(((m * log_mean(t) + CUT) / t).min()) + 1
    mode = min(max(int((m - 1) / np.expm1(rate)), low), high)
    up, down = np.arange(mode, high), np.arange(mode, low, -1)
    above = np.cumprod(a * (up + m) / (up + 1))
    below = np.cumprod(down / (a * (down + m - 1)))
    return low, np.concatenate([below[::-1], [1.0], above])


def _pairs(sums: TypeSums, kinds: np.ndarray, laws: list) -> Pairs:
    """List the pairs that are drawn apart; their laws are added to those of sums."""
    groups = [group.types for group in sums.local if _in_pairs(group)]
    types = np.vstack([np.empty((0, 2), dtype=np.int64), *groups])
    known, law = np.unique(kinds[types], axis=0, return_inverse=True)
    law = len(laws) + law.ravel()
    laws.extend(_law_of_pair(laws[one], laws[other]) for one, other in known.tolist())
    across = _across(sums, types[:, 1]) - _across(sums, types[:, 0])
    return Pairs(types.astype(np.uint64), law.astype(np.uint64), across)


def _others(sums: TypeSums) -> Local:
    groups = [group for group in sums.local if not _in_pairs(group)]
    sizes = [np.full(len(group.types), group.types.shape[1]) for group in groups]
    held = [np.full(len(group.types), group.held) for group in groups]
    empty = np.empty(0, dtype=np.int64)
    types = np.concatenate([empty, *(group.types.ravel() for group in groups)])
    start = np.cumsum(np.concatenate([[0], *sizes]), dtype=np.int64)
    held = np.concatenate([empty, *held]).astype(bool)
    return Local(start, types.astype(np.uint64), held, _across(sums, types))


def _across(sums: TypeSums, types: np.ndarray) -> np.ndarray:
    """Give what a unit of each of these types adds to the open sums."""
    return sums.closing.across[np.searchsorted(sums.closing.before, types)]


def _law_of_pair(one: tuple, other: tuple) -> tuple[int, np.ndarray]:
    """Law of a sum whose other half makes up for it: their tables are symmetric."""
    reach = min(-one[0], -other[0])
    halves = (masses[-low - reach : -low + reach + 1] for low, masses in (one, other))
    return -reach, np.prod(list(halves), axis=0)


def _together(laws: list) -> Tables:
    start = np.concatenate([[0], np.cumsum([len(masses) for _, masses in laws])])
    bits = [(FINER * len(masses)).bit_length() for _, masses in laws]
    parts = np.concatenate([[0], np.cumsum([1 << many for many in bits])])
    cumulative, chance = np.empty(start[-1]), np.empty(start[-1])
    guide = np.empty(parts[-1], dtype=np.uint32)
    for i, (_, masses) in enumerate(laws):
        part = slice(start[i], start[i + 1])
        sums = np.cumsum(masses / masses.sum())
        cumulative[part] = sums / sums[-1]  # so that the last is above every uniform
        chance[part] = masses / masses.max()
        least = np.arange(1 << bits[i]) / (1 << bits[i])
        guide[parts[i] : parts[i + 1]] = start[i] + np.searchsorted(
            cumulative[part], least, side="right"
        )
    low = np.array([low for low, _ in laws], dtype=np.int64)
    shift = 64 - np.array(bits)
    start, parts, shift = (each.astype(np.uint64) for each in (start, parts, shift))
    return Tables(start, low, cumulative, chance, guide, parts, shift)
