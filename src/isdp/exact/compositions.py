"""Independent draws of l1 noise under totals of disjoint blocks, in time linear in the cells.

A double geometric variable is the difference of two geometric ones. Under one total over n cells
the noise is therefore X - Y, where X and Y are independent and each is a uniform weak composition
(n counts, zero allowed) of the same integer S, and P(S = s) is proportional to
C(s + n - 1, n - 1)^2 exp(-2 epsilon s). S comes from rejection under a hull of its log-concave
law; a composition comes from a random choice of bars among stars, 64 places at a time (see
`_compose_from`). No step approximates: what is left is the rounding of 53-bit arithmetic.

The generator is a pseudo-random one and logarithms are in floating point: for experiments, not for
the release of confidential data; `isdp.exact.release` is for that.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from isdp.errors import InputError
from isdp.invariants import Invariants
from isdp.mechanisms import GeneralizedLaplace
from isdp.words import UNIT, below, lowest_bit, mixed, ones, uniform, words_from

LARGEST_MEAN = 8  # of counts that are drawn by stars and bars
LOW_BITS = np.uint64(2**53 - 1)
LARGEST_SUM = 2**53  # integers up to here are exact in float64


def blocks_of(invariants: Invariants) -> np.ndarray | None:
    """Tell which block each cell is in, where the invariants are totals of disjoint blocks.

    A row counts as the total of its cells if its entries are all the same number. Rows without
    cells, and rows that other rows' totals add up to (a grand total beside its parts), add nothing
    and are passed over.

    Parameters
    ----------
    invariants : Invariants

    Returns
    -------
    int64 array, shape (cells,), or None
        Blocks are numbered from 0 in the order of the rows; -1 marks a cell in no block. None if
        rows overlap or weigh their cells unequally.
    """
    a = invariants.sparse
    labels = np.full(invariants.cells, -1, dtype=np.int64)
    smallest_first = np.argsort(np.diff(a.indptr), kind="stable")  # parts before their sum
    if not _label(a.indptr, a.indices, a.data, smallest_first, labels):
        return None
    _number(labels, np.zeros(len(smallest_first), dtype=np.int64))
    return labels


def block_order(invariants: Invariants) -> tuple[np.ndarray, np.ndarray] | None:
    """Sort the cells by block.

    Parameters
    ----------
    invariants : Invariants

    Returns
    -------
    order : int64 array, shape (cells,)
        The cells in no block first, then block after block.
    starts : int64 array, shape (blocks + 1,)
        Block b is ``order[starts[b]:starts[b + 1]]``.

    None in place of both if `blocks_of` says so.
    """
    labels = blocks_of(invariants)
    if labels is None:
        return None
    sizes = np.bincount(labels + 1, minlength=1)
    starts = np.cumsum(sizes)
    order = np.empty(len(labels), dtype=np.int64)
    _counting_sort(labels, starts - sizes, order)
    return order, starts


def check_draws(draws) -> int:
    """Return a number of draws as an int.

    Raises
    ------
    InputError
        If it is not a whole number from 1 up.
    """
    if isinstance(draws, bool) or int(draws) != draws or draws < 1:
        raise InputError(f"exact: draws must be a whole number from 1 up, got {draws!r}")
    return int(draws)


def refuse_large_sums(cells: int, epsilon: float) -> None:
    """Raise if the counts of noise in `cells` cells could add up to 2^53 or more.

    Parameters
    ----------
    cells : int
    epsilon : float

    Raises
    ------
    InputError
        If they could, but for a chance below 1e-20.
    """
    reach = (cells + 12 * math.sqrt(cells) + 60) / epsilon
    if reach >= LARGEST_SUM:
        raise InputError(
            f"exact: noise in {cells} cells at epsilon {epsilon:g} could add up to {reach:.3g}, "
            f"more than 2^53; use a larger epsilon or fewer cells"
        )


def sample_blocks(
    rng: np.random.Generator, invariants: Invariants, epsilon: float, draws: int
) -> np.ndarray:
    """Draw independent l1 noise under a total or a partition, without a Markov chain.

    P(u) is proportional to exp(-epsilon ||u||_1) over the integer vectors u that leave the totals
    unchanged. Time and memory are linear in the cells, whatever epsilon is.

    Parameters
    ----------
    rng : numpy.random.Generator
    invariants : Invariants
        Totals of disjoint blocks, see `blocks_of`; cells in no block get free noise.
    epsilon : float
        Privacy loss per unit of the l1 norm, positive.
    draws : int

    Returns
    -------
    int64 array, shape (draws, cells)

    Raises
    ------
    InputError
        If the rows overlap, a setting is out of range, or sums could pass 2^53.

    Examples
    --------
    >>> noise = sample_blocks(np.random.default_rng(1), Invariants.total(5), 0.5, draws=10)
    >>> noise.shape, int(abs(noise.sum(axis=1)).max())
    ((10, 5), 0)
    """
    epsilon = float(GeneralizedLaplace(epsilon).epsilon)
    draws = check_draws(draws)
    refuse_large_sums(invariants.cells, epsilon)
    blocks = block_order(invariants)
    if blocks is None:
        raise InputError(
            "exact: these invariants are not totals of disjoint blocks; use the Markov chain, or "
            "for a small lattice isdp.exact.release"
        )
    order, starts = blocks
    noise = np.empty((draws, invariants.cells), dtype=np.int64)
    longest = int(np.diff(starts).max(initial=0))
    x, y = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    _fill(rng, order, starts, epsilon, x, y, noise)
    return noise


@njit(cache=True)
def _label(indptr, indices, data, rows, labels):
    """Write the row of each cell's block into `labels`; False if the rows are no disjoint blocks.

    Each row either makes a block of new cells, or is made up of whole blocks.
    """
    seen = np.zeros(len(rows), dtype=np.int64)  # cells of each block in the present row
    for row in rows:
        start, stop = indptr[row], indptr[row + 1]
        old = start < stop and labels[indices[start]] >= 0
        for entry in range(start, stop):
            label = labels[indices[entry]]
            if data[entry] != data[start] or (label >= 0) != old:
                return False
            if old:
                seen[label] += 1
            else:
                labels[indices[entry]] = row
        for entry in range(start, stop if old else start):
            label = labels[indices[entry]]
            if seen[label] != 0 and seen[label] != indptr[label + 1] - indptr[label]:
                return False
            seen[label] = 0
    return True


@njit(cache=True)
def _number(labels, numbers):
    """Replace rows by numbers from 0 in their order, those that made no block left out."""
    for row in labels:
        if row >= 0:
            numbers[row] = 1
    numbers[:] = np.cumsum(numbers) - numbers
    for cell in range(len(labels)):
        if labels[cell] >= 0:
            labels[cell] = numbers[labels[cell]]


@njit(cache=True)
def _counting_sort(labels, position, order):
    for cell in range(len(labels)):
        order[position[labels[cell] + 1]] = cell
        position[labels[cell] + 1] += 1


@njit(cache=True)
def _fill(rng, order, starts, epsilon, x, y, noise):
    """Write a draw into each row of `noise`; `x` and `y` are room for the longest block."""
    words, room = words_from(rng), _room(len(x))
    hull = _hull(2, epsilon)
    for draw in range(len(noise)):
        _fill_free(rng, order[: starts[0]], epsilon, noise[draw])
        for block in range(len(starts) - 1):
            cells = order[starts[block] : starts[block + 1]]
            n = len(cells)
            if n == 1:
                noise[draw, cells[0]] = 0
                continue
            if n != hull[0]:
                hull = _hull(n, epsilon)
            total = _draw_under(rng, hull)
            _compose_from(words, total, x[:n], room)
            _compose_from(words, total, y[:n], room)
            _write_difference(x[:n], y[:n], cells, noise[draw])


@njit(cache=True)
def _fill_free(rng, cells, epsilon, noise):
    for cell in cells:
        up = int(rng.standard_exponential() / epsilon)
        noise[cell] = up - int(rng.standard_exponential() / epsilon)


@njit(cache=True)
def _write_difference(x, y, cells, noise):
    first, n = cells[0], len(cells)
    if cells[n - 1] - first == n - 1:  # neighbours: written faster
        beside = noise[first : first + n]
        for i in range(n):
            beside[i] = x[i] - y[i]
        return
    for i in range(n):
        noise[cells[i]] = x[i] - y[i]


@njit(cache=True)
def _stirling_rest(z):
    """Log Gamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2), within 1e-13 for z >= 1."""
    if z < 10.0:
        return math.lgamma(z) - ((z - 0.5) * math.log(z) - z + 0.91893853320467274178)
    w = 1.0 / (z * z)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / z


@njit(cache=True)
def _log_rise(mode, delta, n, rate):
    """Log of [C(s + n - 1, n - 1) exp(-rate s)] at s = mode + delta over the same at s = mode.

    Logarithms of factorials of numbers near 1e13 would lose every digit of their difference. With
    x = mode + n and y = mode + 1 the terms of Stirling's formula are combined by hand, so that
    what has to cancel is of the order of sqrt(n) only. If `rate` is such that `mode` is the mode,
    the absolute error is below 1e-10 within 10 standard deviations, for n up to 1e7.
    """
    x, y, d = float(mode + n), float(mode + 1), float(delta)
    slope = math.log1p(d / x)
    shift = math.log1p(-d * (n - 1.0) / (x * (y + d)))
    smooth = (y + d - 0.5) * shift + (n - 1.0) * slope + d * (math.log1p((n - 1.0) / y) - rate)
    rest = _stirling_rest(x + d) - _stirling_rest(x) - _stirling_rest(y + d) + _stirling_rest(y)
    return smooth + rest


@njit(cache=True)
def _mode(n, rate):
    """Mode of C(s + n - 1, n - 1) exp(-rate s) over s >= 0."""
    return int((n - 1) / math.expm1(rate))


@njit(cache=True)
def _log_step(s, n, rate):
    """Log of the ratio of C(s + n - 1, n - 1) exp(-rate s) at s + 1 to that at s."""
    return math.log1p((n - 1.0) / (s + 1.0)) - rate


@njit(cache=True)
def _draw_sum(rng, n, epsilon):
    """Draw S with P(s) proportional to C(s + n - 1, n - 1)^2 exp(-2 epsilon s), n >= 2."""
    return _draw_under(rng, _hull(n, epsilon))


@njit(cache=True)
def _hull(n, epsilon):
    """Lay a hull over the law of S, which is log-concave, for `_draw_under` to unpack.

    A flat top around the mode and a geometric tail on either side, each with the law's own ratio
    where it begins, lie above it. About 3 of 4 proposals are accepted.
    """
    mode = _mode(n, epsilon)
    sd = math.sqrt(0.5 * n * math.exp(-epsilon)) / -math.expm1(-epsilon)
    reach = math.ceil(1.1 * sd)
    low, high = max(mode - reach, 0), mode + reach
    fall = -2.0 * _log_step(high, n, epsilon)
    log_high = 2.0 * _log_rise(mode, high - mode, n, epsilon)
    right = math.exp(log_high - fall) / -math.expm1(-fall)
    left, climb, log_low = 0.0, 0.0, 0.0
    if low > 0:
        climb = 2.0 * _log_step(low - 1, n, epsilon)
        log_low = 2.0 * _log_rise(mode, low - mode, n, epsilon)
        left = math.exp(log_low - climb) / -math.expm1(-climb)
    return n, epsilon, mode, (low, log_low, climb, left), (high, log_high, fall, right)


@njit(cache=True)
def _draw_under(rng, hull):
    """Draw S by rejection under its hull."""
    n, epsilon, mode, (low, log_low, climb, left), (high, log_high, fall, right) = hull
    flat = float(high - low + 1)
    while True:
        where = rng.random() * (flat + left + right)
        if where < flat:
            s = low + int(where)
            log_hull = 0.0
        elif where < flat + right:
            beyond = 1 + int(rng.standard_exponential() / fall)
            s = high + beyond
            log_hull = log_high - fall * beyond
        else:
            beyond = 1 + int(rng.standard_exponential() / climb)
            s = low - beyond
            log_hull = log_low - climb * beyond
        if s < 0:
            continue
        if -rng.standard_exponential() < 2.0 * _log_rise(mode, s - mode, n, epsilon) - log_hull:
            return s


@njit(cache=True)
def _compose(rng, total, x):
    """Fill `x` with a uniform weak composition of `total` into len(x) >= 2 parts."""
    _compose_from(words_from(rng), total, x, _room(len(x)))


@njit(cache=True)
def _room(n):
    """Bits for the stars and bars of n quotients, by words."""
    return np.empty((LARGEST_MEAN + 1) * n // 64 + 2, dtype=np.uint64)


@njit(cache=True)
def _compose_from(words, total, x, room):
    """Fill `x` with a uniform weak composition of `total`; `room` is of `_room`.

    Stars and bars: len(x) - 1 bars among as many places as there are bars and units, all choices
    equally likely, and a part is the gap between two bars. Totals so large that there would be
    many places are first divided by a power of two, see `_draw_remainders`.
    """
    x[:] = 0
    bits = 0
    while total >> bits > LARGEST_MEAN * len(x):
        bits += 1
    units = _draw_remainders(words, total, x, bits) if bits > 0 else total
    bars = len(x) - 1
    places = room[: (units + bars + 63) // 64]
    _choose(words, units + bars, min(units, bars), places)
    _add_gaps(places, units < bars, units + bars, bits, x)


@njit(cache=True)
def _draw_remainders(words, total, x, bits):
    """Fill `x` with the parts' remainders modulo 2^bits; return the sum of their quotients.

    Independent geometric counts with a common parameter b are a uniform composition of whatever
    they add up to. Written as x_i = 2^k q_i + r_i with 0 <= r_i < 2^k, the q_i and the r_i are
    independent, and given the r_i the q_i have to be a uniform composition of
    Q = (total - sum of r_i) / 2^k. So the last remainder is set to make Q whole, which with the
    rest is accepted in proportion to b^r_n C(Q + n - 1, n - 1) b^(2^k Q).
    """
    n = len(x)
    rate = math.log1p(n / total)
    unit = 1 << bits
    mode = _mode(n, unit * rate)
    while True:
        _fill_remainders(words, rate, bits, x)
        remainders = x[: n - 1].sum()
        x[n - 1] = (total - remainders) & (unit - 1)
        units = (total - remainders - x[n - 1]) >> bits
        if units >= 0:
            log_chance = _log_rise(mode, units - mode, n, unit * rate) - rate * x[n - 1]
            if uniform(words) < math.exp(log_chance):
                return units


@njit(cache=True)
def _fill_remainders(words, rate, bits, x):
    """Draw each x_i < 2^bits with P(r) proportional to exp(-rate r), where 2^bits rate < 1."""
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for i in range(len(x)):
        while True:
            word, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
            r = np.int64(word >> np.uint64(64 - bits))
            if bits > 11:  # a chance takes 53 bits of its own
                word, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
            chance = np.float64(np.int64(word & LOW_BITS)) * UNIT
            fall = rate * r
            # 1 - fall <= exp(-fall): most are decided without the exponential
            if chance < 1.0 - fall or chance < math.exp(-fall):
                x[i] = r
                break
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3


@njit(cache=True)
def _choose(words, length, wanted, places):
    """Set `wanted` of the first `length` bits of `places`, all choices equally likely.

    Bits that are one by independent chances of c / 2^k are a uniform choice of as many as they
    are. Ones are then added at random, or taken away, until they are as many as wanted. The
    chance is a little too small, as it is easier to add than to take away.
    """
    share = wanted / length
    sd = math.sqrt(wanted * (1.0 - share))
    k = 0
    while wanted > 0 and 2.0 * sd * (1 << k) < length:
        k += 1
    _toss(words, max(0, int((wanted - sd) / length * (1 << k))), k, places)
    places[-1] &= ~np.uint64(0) >> np.uint64(64 * len(places) - length)
    have = 0
    for word in places:
        have += ones(word)
    while have < wanted:
        have += _put(places, below(words, length), True)
    while have > wanted:
        have -= _put(places, below(words, length), False)


@njit(cache=True)
def _toss(words, c, k, places):
    """Set every bit with chance c / 2^k, 64 at a time.

    From the lowest binary digit of c up, a fair bit is put before what has been drawn: `or` for
    a digit one and `and` for a zero halve the distance to one or to zero.
    """
    if c == 0:
        places[:] = 0
        return
    while c & 1 == 0:
        c, k = c >> 1, k - 1
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for i in range(len(places)):
        bits, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
        for digit in range(1, k):
            word, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
            bits = bits | word if (c >> digit) & 1 else bits & word
        places[i] = bits
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3


@njit(cache=True)
def _put(places, where, value):
    """Set a bit or clear it; return whether that changed it."""
    bit = np.uint64(1) << np.uint64(where & 63)
    before = places[where >> 6]
    after = before | bit if value else before & ~bit
    places[where >> 6] = after
    return before != after


@njit(cache=True)
def _add_gaps(places, inverted, length, bits, x):
    """Add 2^bits times the gaps between bars to `x`; the bars are the zeros if `inverted`."""
    part, last, bars = 0, -1, len(x) - 1
    flip = ~np.uint64(0) if inverted else np.uint64(0)
    for i in range(len(places)):
        word = places[i] ^ flip
        while word != 0 and part < bars:
            bar = 64 * i + lowest_bit(word)
            x[part] += (bar - last - 1) << bits
            part, last = part + 1, bar
            word &= word - np.uint64(1)
    x[bars] += (length - last - 1) << bits
