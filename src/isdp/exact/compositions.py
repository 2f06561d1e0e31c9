"""Independent draws of l1 noise under totals of disjoint blocks, in time linear in the cells.

A double geometric variable is the difference of two geometric ones. Under one total over n cells
the noise is therefore X - Y, where X and Y are independent and each is a uniform weak composition
(n counts, zero allowed) of the same integer S, and P(S = s) is proportional to
C(s + n - 1, n - 1)^2 exp(-2 epsilon s). S comes from rejection under a hull of its log-concave
law; a composition comes from independent geometric counts whose sum is then set right (see
`_compose`). No step approximates: what is left is the rounding of 53-bit arithmetic.

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

LARGEST_SUM = 2**53  # integers up to here are exact in float64


def blocks_of(invariants: Invariants) -> np.ndarray | None:
    """Tell which block each cell is in, where the invariants are totals of disjoint blocks.

    A row counts as the total of its cells if its entries are all the same number. Rows without
    cells and rows that repeat another's cells add nothing and are passed over.

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
    if _label(a.indptr, a.indices, a.data, labels):
        return labels
    return None


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
def _label(indptr, indices, data, labels):
    """Write each cell's block into `labels`; False if the rows are no disjoint blocks."""
    sizes = np.zeros(len(indptr), dtype=np.int64)
    blocks = 0
    for row in range(len(indptr) - 1):
        start, stop = indptr[row], indptr[row + 1]
        if start == stop:
            continue
        seen = labels[indices[start]]
        if seen >= 0 and sizes[seen] != stop - start:
            return False
        for entry in range(start, stop):
            if data[entry] != data[start] or labels[indices[entry]] != seen:
                return False
            if seen < 0:
                labels[indices[entry]] = blocks
        if seen < 0:
            sizes[blocks] = stop - start
            blocks += 1
    return True


@njit(cache=True)
def _counting_sort(labels, position, order):
    for cell in range(len(labels)):
        order[position[labels[cell] + 1]] = cell
        position[labels[cell] + 1] += 1


@njit(cache=True)
def _fill(rng, order, starts, epsilon, x, y, noise):
    """Write a draw into each row of `noise`; `x` and `y` are room for the longest block."""
    for draw in range(len(noise)):
        _fill_free(rng, order[: starts[0]], epsilon, noise[draw])
        for block in range(len(starts) - 1):
            cells = order[starts[block] : starts[block + 1]]
            _fill_block(rng, cells, epsilon, x[: len(cells)], y[: len(cells)], noise[draw])


@njit(cache=True)
def _fill_free(rng, cells, epsilon, noise):
    for cell in cells:
        up = int(rng.standard_exponential() / epsilon)
        noise[cell] = up - int(rng.standard_exponential() / epsilon)


@njit(cache=True)
def _fill_block(rng, cells, epsilon, x, y, noise):
    if len(cells) == 1:
        noise[cells[0]] = 0
        return
    total = _draw_sum(rng, len(cells), epsilon)
    _compose(rng, total, x)
    _compose(rng, total, y)
    for i in range(len(cells)):
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
    """Draw S with P(s) proportional to C(s + n - 1, n - 1)^2 exp(-2 epsilon s), n >= 2.

    The law is log-concave: a flat top around the mode and a geometric tail on either side, each
    with the law's own ratio where it begins, lie above it. About 3 of 4 proposals are accepted.
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
    """Fill `x` with a uniform weak composition of `total` into len(x) >= 2 parts.

    Independent geometric counts with a common parameter b are a uniform composition of whatever
    they add up to. Written as x_i = 2^k q_i + r_i with 0 <= r_i < 2^k, the q_i and the r_i are
    independent, and given the r_i the q_i have to be a uniform composition of
    Q = (total - sum of r_i) / 2^k. So the last remainder is set to make Q whole, which with the
    rest is accepted in proportion to b^r_n C(Q + n - 1, n - 1) b^(2^k Q); then the q_i are moved
    from the sum they have to the sum Q. With 2^k near the mean count this is about sqrt(n) moves,
    however large the total.
    """
    n = len(x)
    x[:] = 0
    if total == 0:
        return
    rate = math.log1p(n / total)
    bits = _bits_of_remainders(total, n)
    unit = 1 << bits
    mode = _mode(n, unit * rate)
    while True:
        remainders = 0
        have = 0
        most = 0
        for i in range(n):
            count = int(rng.standard_exponential() / rate)
            x[i] = count
            remainders += count & (unit - 1)
            have += count >> bits
            most = max(most, count >> bits)
        remainders -= x[n - 1] & (unit - 1)
        last = (total - remainders) & (unit - 1)
        want = (total - remainders - last) >> bits
        if bits == 0:
            break
        if want >= 0:
            log_chance = _log_rise(mode, want - mode, n, unit * rate) - rate * last
            if -rng.standard_exponential() < log_chance:
                break
    x[n - 1] = ((x[n - 1] >> bits) << bits) + last
    _move(rng, x, bits, have, want, most)


@njit(cache=True)
def _bits_of_remainders(total, n):
    """Choose k so that the quotients' mean is small, but 2^k not so large that b^r_n is."""
    least = max(1.0, n**0.25 / 6.0)
    bits = 0
    while total / n >= 2.0 * least * (1 << bits):
        bits += 1
    return bits


@njit(cache=True)
def _move(rng, x, bits, have, want, most):
    """Take the quotients x_i >> bits, a uniform composition of `have`, to one of `want`.

    A ball more in cell i with a chance in proportion to q_i + 1 (Polya's urn), or a ball less in
    proportion to q_i, keeps a composition uniform. `most` bounds every q_i.
    """
    n = len(x)
    unit = 1 << bits
    while have < want:
        i = int(rng.random() * n)
        q = x[i] >> bits
        if rng.random() * (most + 1) < q + 1:
            x[i] += unit
            have += 1
            most = max(most, q + 1)
    while have > want:
        i = int(rng.random() * n)
        if rng.random() * most < x[i] >> bits:
            x[i] -= unit
            have -= 1
