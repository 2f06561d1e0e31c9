"""Compiled loops that draw uniform compositions, on random words of their own.

Random words are 64 bits of SFC64, as in `numpy.random.SFC64`, inlined: a call of a NumPy generator
from compiled code takes several times as long. Their seed comes from a NumPy generator, so equal
seeds of that one give equal words. A call that takes arrays costs more than a composition of a few
cells, so what is called for each type is inlined by numba. What is inlined in one another stands in
this one file, since numba looks at the changes of one file only when it takes compiled code from
its cache.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from isdp.compiled import njit

LARGEST_MEAN = 8  # of counts that are drawn by stars and bars
FEW = 16  # places that are put one by one
LOW_BITS = np.uint64(2**53 - 1)
ROUNDS_TO_MIX_A_SEED = 12
UNIT = 2.0**-53


def words_from(rng):
    """State of a stream of words, seeded by a NumPy generator.

    Parameters
    ----------
    rng : numpy.random.Generator
        Gives 192 bits.

    Returns
    -------
    uint64 array, shape (4,)
    """
    high, low = rng.integers(0, 1 << 32, (3, 2)).astype(np.uint64).T
    state = np.append((high << np.uint64(32)) | low, np.uint64(1))
    # words before this would still show the seed, as for NumPy's own generator
    for _ in range(ROUNDS_TO_MIX_A_SEED):
        next_word(state)
    return state


@njit(cache=True, inline="always")
def mixed(a, b, c, count):
    """One round: the word that comes out, and the state after it."""
    word = a + b + count
    turned = (c << np.uint64(24)) | (c >> np.uint64(40))  # rotated left by 24 of 64 bits
    return (
        word,
        b ^ (b >> np.uint64(11)),
        c + (c << np.uint64(3)),
        turned + word,
        count + np.uint64(1),
    )


@njit(cache=True)
def next_word(state):
    """Take the next word of the stream, uint64."""
    word, state[0], state[1], state[2], state[3] = mixed(state[0], state[1], state[2], state[3])
    return word


@njit(cache=True)
def uniform(state):
    """Draw from [0, 1), in multiples of 2^-53."""
    return unit(next_word(state))


@njit(cache=True, inline="always")
def unit(word):
    """Take a word for a number in [0, 1), a multiple of 2^-53."""
    return np.float64(np.int64(word >> np.uint64(11))) * UNIT


@njit(cache=True)
def below(state, limit):
    """Draw an integer from 0 to limit - 1, all equally likely; 0 < limit <= 2^53."""
    if limit < 1 << 32:
        # of 2^32 random halves of words, each upper half of the product comes from 2^32 // size or
        # one more; refusing lower halves below 2^32 mod size takes the one more away. Most lower
        # halves are at least `size`, which spares the division
        size = np.uint64(limit)
        while True:
            product = (next_word(state) >> np.uint64(32)) * size
            low = product & np.uint64(0xFFFFFFFF)
            if low >= size or low >= np.uint64(1 << 32) % size:
                return np.int64(product >> np.uint64(32))
    while True:
        drawn = np.int64(next_word(state) >> np.uint64(11))
        # multiples of `limit` alone, so that every remainder is left as often
        if drawn < (1 << 53) - (1 << 53) % limit:
            return drawn % limit


@intrinsic
def lowest_bit(typing_context, word):
    """Position of the lowest one of a word that is not zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def ones(typing_context, word):
    """Count the ones of a word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@njit(cache=True)
def fill(rng, words, order, starts, epsilon, x, y, noise):
    """Write a draw into each row of `noise`; `x` and `y` are room for the longest block."""
    rooms = rooms_for(len(x))
    totals = np.zeros(len(starts) - 1, dtype=np.int64)
    # no literal number or truth value is handed on: numba would compile for it apart
    over = hull(max(len(x), 2), epsilon)
    for draw in range(len(noise)):
        _fill_free(rng, order[: starts[0]], epsilon, noise[draw])
        for block in range(len(totals)):
            n = starts[block + 1] - starts[block]
            if n == 1:
                continue
            if n != over.cells:
                over = hull(n, epsilon)
            totals[block] = draw_under(rng, over)
        _share_row(words, order, starts, totals, totals, x, y, rooms, noise[draw])


@njit(cache=True)
def share(words, order, starts, more, less, noise):
    """Share sums out within types: in each row the difference of compositions of two counts.

    ``more`` and ``less`` are int64 (draws, types); type t holds ``order[starts[t]:starts[t + 1]]``.
    """
    longest = 1
    for kind in range(len(starts) - 1):
        longest = max(longest, starts[kind + 1] - starts[kind])
    rooms = rooms_for(longest)
    x, y = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    for draw in range(len(noise)):
        _share_row(words, order, starts, more[draw], less[draw], x, y, rooms, noise[draw])


@njit(cache=True)
def _share_row(words, order, starts, more, less, x, y, rooms, noise):
    for kind in range(len(starts) - 1):
        start, high, low = starts[kind], more[kind], less[kind]
        n = starts[kind + 1] - start
        if n == 1:
            noise[order[start]] = high - low
            continue
        _share_out(words, high, low, order, start, n, x, y, rooms, noise)


@njit(cache=True)
def add_up(order, starts, noise, sums):
    """Add the cells of each type up, into int64 (draws, types)."""
    for draw in range(len(noise)):
        row = noise[draw]
        for kind in range(len(starts) - 1):
            total = 0
            for place in range(starts[kind], starts[kind + 1]):
                total += row[order[place]]
            sums[draw, kind] = total


@njit(cache=True)
def _fill_free(rng, cells, epsilon, noise):
    for cell in cells:
        up = int(rng.standard_exponential() / epsilon)
        noise[cell] = up - int(rng.standard_exponential() / epsilon)


@njit(cache=True, inline="always")
def _share_out(words, more, less, order, start, n, x, y, rooms, noise):
    """Write the difference of compositions of two counts into the `n` cells from `start` on.

    Where both are choices of bars they are written without a list of either: arrays as long as the
    cells would cost more than the draw, and so does a call for places that are bits of one word.
    The others need the room of `x` and `y`.
    """
    if max(more, less) <= LARGEST_MEAN * n:
        for side in range(2):
            units = less if side else more
            length, wanted = units + n - 1, min(units, n - 1)
            if length <= 64:
                rooms[side, 0] = _choose_in_word(words, length, wanted)
            else:
                _choose(words, length, wanted, rooms[side])
        _write_gaps(_bars(more, n), rooms[0], _bars(less, n), rooms[1], order, start, n, noise)
        return
    compose(words, more, x[:n], rooms[0])
    compose(words, less, y[:n], rooms[1])
    for i in range(n):
        noise[order[start + i]] = x[i] - y[i]


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


class Tail(NamedTuple):
    """One side of a hull: where it begins, its log height and log slope there, its whole mass."""

    place: int
    log_height: float
    fall: float
    mass: float


class Hull(NamedTuple):
    """A hull over the law of S, relative to its height at the mode."""

    cells: int
    rate: float
    mode: int
    low: Tail
    high: Tail


@njit(cache=True)
def hull(n, epsilon):
    """Lay a hull over P(s) proportional to C(s + n - 1, n - 1)^2 exp(-2 epsilon s), n >= 2.

    The law is log-concave. A flat top around the mode and a geometric tail on either side, each
    with the law's own ratio where it begins, lie above it. About 3 of 4 proposals are accepted.
    """
    mode = _mode(n, epsilon)
    sd = math.sqrt(0.5 * n * math.exp(-epsilon)) / -math.expm1(-epsilon)
    reach = math.ceil(1.1 * sd)
    low, high = max(mode - reach, 0), mode + reach
    fall = -2.0 * _log_step(high, n, epsilon)
    log_high = 2.0 * _log_rise(mode, high - mode, n, epsilon)
    right = math.exp(log_high - fall) / -math.expm1(-fall)
    left, climb, log_low = 0.0, 0.0, 0.0  # where the flat top reaches down to zero
    if low > 0:
        climb = 2.0 * _log_step(low - 1, n, epsilon)
        log_low = 2.0 * _log_rise(mode, low - mode, n, epsilon)
        left = math.exp(log_low - climb) / -math.expm1(-climb)
    return Hull(
        n, epsilon, mode, Tail(low, log_low, climb, left), Tail(high, log_high, fall, right)
    )


@njit(cache=True)
def draw_under(rng, hull):
    """Draw S by rejection under its hull."""
    low, high = hull.low, hull.high
    flat = float(high.place - low.place + 1)
    while True:
        where = rng.random() * (flat + low.mass + high.mass)
        if where < flat:
            s = low.place + int(where)
            log_hull = 0.0
        elif where < flat + high.mass:
            beyond = 1 + int(rng.standard_exponential() / high.fall)
            s = high.place + beyond
            log_hull = high.log_height - high.fall * beyond
        else:
            beyond = 1 + int(rng.standard_exponential() / low.fall)
            s = low.place - beyond
            log_hull = low.log_height - low.fall * beyond
        if s < 0:
            continue
        rise = 2.0 * _log_rise(hull.mode, s - hull.mode, hull.cells, hull.rate)
        if -rng.standard_exponential() < rise - log_hull:
            return s


@njit(cache=True)
def rooms_for(n):
    """Bits for the stars and bars of n quotients, by words, twice."""
    return np.empty((2, (LARGEST_MEAN + 1) * n // 64 + 2), dtype=np.uint64)


@njit(cache=True)
def compose(words, total, x, room):
    """Fill `x` with a uniform weak composition of `total`; `room` is one of `rooms_for`.

    Stars and bars: len(x) - 1 bars among as many places as there are bars and units, all choices
    equally likely, and a part is the gap between two bars. Totals so large that there would be
    many places are first divided by a power of two, see `_draw_remainders`.
    """
    x[:] = 0
    bits = 0
    while total >> bits > LARGEST_MEAN * len(x):
        bits += 1
    units = _draw_remainders(words, total, x, bits) if bits > 0 else total
    bars = _bars(units, len(x))
    _choose(words, bars.length, min(units, len(x) - 1), room)
    _add_gaps(bars, room, bits, x)


class Bars(NamedTuple):
    """Bars among stars, in so many places: the ones, or the zeros if `flip` is all ones.

    Flipped bits beyond `length` become ones, but the last bar is found before them.
    """

    flip: np.uint64
    length: int


@njit(cache=True, inline="always")
def _bars(units, parts):
    """Tell how the bars of a composition of `units` are written."""
    bars = parts - 1
    return Bars(~np.uint64(0) if units < bars else np.uint64(0), units + bars)


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
        remainders = 0
        for i in range(n - 1):
            remainders += x[i]
        # modulo 2^bits, also where the difference is negative: its low bits in two's complement
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
            # the upper `bits` of the word; up to 11 of them leave 53 others for the chance
            r = np.int64(word >> np.uint64(64 - bits))
            if bits > 11:
                word, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
            chance = np.float64(np.int64(word & LOW_BITS)) * UNIT
            fall = rate * r
            # 1 - fall <= exp(-fall): most are decided without the exponential
            if chance < 1.0 - fall or chance < math.exp(-fall):
                x[i] = r
                break
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3


@njit(cache=True, inline="always")
def _choose_in_word(words, length, wanted):
    """Give a word of which `wanted` of the first `length` bits are one, all choices equally likely.

    Ten places are read off each random word and put one by one; those beyond `length` are passed
    over, as are those that are one already.
    """
    inside = ~np.uint64(0) >> np.uint64(64 - length)
    widest = np.uint64(length - 1)  # whose highest one is now copied to all bits below it
    for shift in (1, 2, 4):
        widest |= widest >> np.uint64(shift)
    width, chosen = np.uint64(ones(widest)), np.uint64(0)
    while ones(chosen) < wanted:
        word = next_word(words)
        for _ in range(10):
            chosen |= (np.uint64(1) << (word & widest)) & inside
            word >>= width
            if ones(chosen) == wanted:
                break
    return chosen


@njit(cache=True)
def _choose(words, length, wanted, places):
    """Set `wanted` of the first `length` bits of `places`, all choices equally likely.

    The other bits of as many words as hold them are zero.

    Bits that are one by independent chances of c / 2^k are a uniform choice of as many as they
    are. Ones are then added at random, or taken away, until they are as many as wanted. The
    chance is a little too small, as it is easier to add than to take away. A few are put one by
    one, which takes less time than the tosses.
    """
    if length <= 64:
        places[0] = _choose_in_word(words, length, wanted)
        return
    count, have = (length + 63) // 64, 0  # an array of these alone would take too long
    if wanted <= FEW:
        places[:count] = 0
    else:
        share = wanted / length
        sd = math.sqrt(wanted * (1.0 - share))
        k = 0
        while 2.0 * sd * (1 << k) < length:
            k += 1  # until steps of 2^-k are finer than half a standard deviation of the share
        _toss(words, max(0, int((wanted - sd) / length * (1 << k))), k, places, count)
        # bits beyond `length` are no places
        places[count - 1] &= ~np.uint64(0) >> np.uint64(64 * count - length)
        for i in range(count):
            have += ones(places[i])
    # a place that is one already changes nothing, so each next one is uniform among the zeros;
    # whatever the order of places, the chances are the same, and so the choice stays uniform
    while have < wanted:
        have += _put(places, below(words, length), have < wanted)
    while have > wanted:
        have -= _put(places, below(words, length), have < wanted)


@njit(cache=True, inline="always")
def _toss(words, c, k, places, count):
    """Set every bit of `count` words with chance c / 2^k, 64 at a time.

    From the lowest binary digit of c up, a fair bit is put before what has been drawn: `or` for
    a digit one and `and` for a zero halve the distance to one or to zero.
    """
    if c == 0:
        for i in range(count):
            places[i] = 0
        return
    while c & 1 == 0:  # c / 2^k in lowest terms; its lowest digit is then one
        c, k = c >> 1, k - 1
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for i in range(count):
        bits, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)  # chance 1/2, the digit 0.1
        # after a digit the chance p is 0.d... in binary: `or` makes (1 + p) / 2, `and` p / 2
        for digit in range(1, k):
            word, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
            bits = bits | word if (c >> digit) & 1 else bits & word
        places[i] = bits
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3


@njit(cache=True, inline="always")
def _put(places, where, value):
    """Set a bit or clear it; return whether that changed it."""
    # place w is bit w mod 64 of word w div 64
    bit = np.uint64(1) << np.uint64(where & 63)
    before = places[where >> 6]
    after = before | bit if value else before & ~bit
    places[where >> 6] = after
    return before != after


@njit(cache=True)
def _add_gaps(bars, places, bits, x):
    """Add 2^bits times the gaps between bars to `x`."""
    word, at, last = places[0] ^ bars.flip, 0, -1
    for part in range(len(x) - 1):
        while word == 0:
            at += 1
            word = places[at] ^ bars.flip
        bar = 64 * at + lowest_bit(word)
        word &= word - np.uint64(1)  # clears the lowest one
        x[part] += (bar - last - 1) << bits
        last = bar
    x[len(x) - 1] += (bars.length - last - 1) << bits


@njit(cache=True, inline="always")
def _write_gaps(up, places_up, down, places_down, order, start, n, noise):
    """Write the gaps between bars, less those between others, into the cells."""
    first, ahead = order[start], 0  # `ahead`: how far a bar was beyond the other one
    beside = order[start + n - 1] - first == n - 1  # neighbours: no need to read which
    word_up, word_down = places_up[0] ^ up.flip, places_down[0] ^ down.flip
    at_up, at_down = 0, 0
    for part in range(n - 1):
        while word_up == 0:
            at_up += 1
            word_up = places_up[at_up] ^ up.flip
        while word_down == 0:
            at_down += 1
            word_down = places_down[at_down] ^ down.flip
        now = 64 * (at_up - at_down) + lowest_bit(word_up) - lowest_bit(word_down)
        word_up &= word_up - np.uint64(1)  # clears the lowest one
        word_down &= word_down - np.uint64(1)
        noise[first + part if beside else order[start + part]] = now - ahead
        ahead = now
    noise[order[start + n - 1]] = up.length - down.length - ahead


class Tables(NamedTuple):
    """Laws on windows of the integers, one after another, for draws by inversion.

    Law k is of the numbers from ``low[k]`` on; its entries are ``start[k]:start[k + 1]``. `chance`
    is relative to the largest. From ``parts[k]`` on, `guide` has for each of ``2^(64 - shift[k])``
    parts of [0, 1] the entry at which to begin in `cumulative`. Places are unsigned: numba asks of
    others whether they are negative, which takes as long as a draw.
    """

    start: np.ndarray
    low: np.ndarray
    cumulative: np.ndarray
    chance: np.ndarray
    guide: np.ndarray
    parts: np.ndarray
    shift: np.ndarray


class Pairs(NamedTuple):
    """Blocks of two types whose sums add up to zero, drawn apart, by the law of the second.

    `across` is what one more of the second, and one less of the first, adds to the open sums.
    """

    types: np.ndarray
    law: np.ndarray
    across: np.ndarray


class Local(NamedTuple):
    """Other blocks of types that are drawn apart: ``types[start[b]:start[b + 1]]``.

    If a block is `held` its sums add up to zero. `across` is what a unit of each sum adds to the
    open sums.
    """

    start: np.ndarray
    types: np.ndarray
    held: np.ndarray
    across: np.ndarray


class Closing(NamedTuple):
    """The types at the end: ``s[settled] = weights @ (s[free], open) / denominator``.

    `open` are the sums ``across @ s[before]`` of the types drawn before, see `isdp.exact.sums`.
    """

    free: np.ndarray
    settled: np.ndarray
    before: np.ndarray
    across: np.ndarray
    weights: np.ndarray
    denominator: int


@njit(cache=True)
def draw_types(words, tables, kinds, counts, pairs, local, closing, sums, less):
    """Fill `sums` and `less`, int64 (draws, types), with what `share` takes apart.

    Type t has the law ``kinds[t]`` in `tables`, of its sum, and in `counts`, of each of its counts.
    """
    free, across = len(closing.free), pairs.across.shape[1]
    known = np.empty(free + across, dtype=np.int64)
    for draw in range(len(sums)):
        row, closed = sums[draw], False
        while not closed:
            known[:] = 0
            _draw_pairs(words, tables, pairs, row, known[free:])
            _draw_local(words, tables, kinds, local, row, known[free:])
            closed = _close(words, tables, kinds, closing, known, row)
        _draw_less(words, counts, kinds, row, less[draw])


@njit(cache=True, inline="always")
def _invert(word, tables, law):
    """Draw from a law by a random word."""
    u, entry = unit(word), np.uint64(tables.guide[tables.parts[law] + (word >> tables.shift[law])])
    while tables.cumulative[entry] <= u:
        entry += np.uint64(1)
    return tables.low[law] + np.int64(entry - tables.start[law])


@njit(cache=True, inline="always")
def _kept(word, tables, law, value):
    """Keep a value with a chance in proportion to its law, by a random word."""
    first, beyond = tables.start[law], tables.start[law + np.uint64(1)]
    entry = first + np.uint64(value - tables.low[law])  # which wraps around where that is negative
    return first <= entry < beyond and unit(word) < tables.chance[entry]


@njit(cache=True, inline="always")
def _draw_pairs(words, tables, pairs, sums, open_sums):
    """Draw the sums of pairs, and add up what they leave open."""
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for pair in range(len(pairs.law)):
        word, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
        value = _invert(word, tables, pairs.law[pair])
        sums[pairs.types[pair, 0]], sums[pairs.types[pair, 1]] = -value, value
        for j in range(len(open_sums)):
            open_sums[j] += pairs.across[pair, j] * value
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3


@njit(cache=True, inline="always")
def _draw_local(words, tables, kinds, local, sums, open_sums):
    """Draw the sums of the other blocks that are drawn apart, and add up what they leave open."""
    for block in range(len(local.held)):
        start, last = local.start[block], local.start[block + 1] - 1
        kept = False
        while not kept:
            rest = 0
            for i in range(start, last):
                kind = local.types[i]
                sums[kind] = _invert(next_word(words), tables, kinds[kind])
                rest -= sums[kind]
            kind, word = local.types[last], next_word(words)
            if local.held[block]:
                sums[kind], kept = rest, _kept(word, tables, kinds[kind], rest)
            else:
                sums[kind], kept = _invert(word, tables, kinds[kind]), True
        for i in range(start, last + 1):
            for j in range(len(open_sums)):
                open_sums[j] += local.across[i, j] * sums[local.types[i]]


@njit(cache=True, inline="always")
def _close(words, tables, kinds, closing, known, sums):
    """Draw or settle the types at the end; whether the try is kept."""
    for i in range(len(closing.free)):
        kind = closing.free[i]
        known[i] = sums[kind] = _invert(next_word(words), tables, kinds[kind])
    for j in range(len(closing.settled)):
        value = 0
        for i in range(len(known)):
            value += closing.weights[i, j] * known[i]
        kind = closing.settled[j]
        if value % closing.denominator != 0:
            return False
        sums[kind] = value // closing.denominator
        if not _kept(next_word(words), tables, kinds[kind], sums[kind]):
            return False
    return True


@njit(cache=True, inline="always")
def _draw_less(words, counts, kinds, sums, less):
    """Draw the lesser count of each type, whose counts differ by its sum."""
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for kind in range(len(kinds)):
        kept = False
        while not kept:
            word, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
            less[kind] = _invert(word, counts, kinds[kind])
            word, s0, s1, s2, s3 = mixed(s0, s1, s2, s3)
            kept = _kept(word, counts, kinds[kind], less[kind] + sums[kind])
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3
