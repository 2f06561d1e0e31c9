"""Compiled loops of permutation swapping, which read a stream of random 64-bit integers.

The array `bits` has the next integers of the stream, and `position` is the index of the first
unread integer. A group is the set of selected records of one stratum. If the array ends within a
group, the caller repeats the group with the same integers, followed by more integers. The outcome
therefore depends on the stream alone. Fresh integers would favour outcomes that need few integers.
"""

from __future__ import annotations

import numpy as np

from isdp.compiled import njit

# the type is explicit, because numba would compile a second version for a literal 0
FIRST = np.int64(0)
OUT_OF_BITS = -1
FLOAT_UNIT = 2.0**-53
HALF = np.uint64(32)
LOWER_HALF = np.uint64(0xFFFFFFFF)
N_HALVES = np.uint64(1 << 32)
DROPPED_BITS = np.uint64(11)  # a float64 in [0, 1) has 53 bits


@njit
def draw_below(bits, position, bound):
    """Draw an integer from 0 to bound - 1 (Lemire 2019, bounded integers).

    The upper half of a 64-bit integer times `bound` maps 2^32 values to `bound` intervals. The
    intervals have equal size once 2^32 mod bound values are rejected. `bound` is at most 2^32.

    The second result is the next position. It is `OUT_OF_BITS` if the array ends before a number is
    accepted.
    """
    width = np.uint64(bound)
    while position < len(bits):
        product = (bits[position] >> HALF) * width
        position += 1
        low = product & LOWER_HALF
        if low >= width or low >= (N_HALVES - width) % width:
            return np.int64(product >> HALF), position
    return np.int64(0), OUT_OF_BITS


@njit
def draw_bernoulli(bits, draws, done, numerator, denominator):
    """Fill `draws` from index `done` with Bernoulli draws of probability numerator / denominator.

    Return the number of finished draws and the number of integers used.
    """
    used = FIRST
    while done < len(draws):
        number, position = draw_below(bits, used, denominator)
        if position == OUT_OF_BITS:
            break
        draws[done] = number < numerator
        done += 1
        used = position
    return done, used


@njit
def derange_by_rejection(bits, starts, group, image):
    """Draw derangements of the groups from number `group` on, by shuffles.

    A shuffle restarts at its first fixed point. Return the number of the first unfinished group,
    and the number of integers used before it.
    """
    used = FIRST
    while group < len(starts) - 1:
        position = _shuffle_until_deranged(bits, used, image, starts[group], starts[group + 1])
        if position == OUT_OF_BITS:
            break
        used = position
        group += 1
    return group, used


@njit
def _shuffle_until_deranged(bits, position, image, start, stop):
    for i in range(start, stop):
        image[i] = i
    i = stop - 1
    while i >= start:
        j, position = draw_below(bits, position, i - start + 1)
        if position == OUT_OF_BITS:
            return position
        j += start
        image[i], image[j] = image[j], image[i]
        # a restart needs no reset, because a shuffle of any order is uniform
        i = stop - 1 if image[i] == i else i - 1
    return position


@njit
def derange_by_closing_cycles(bits, starts, group, image, closed, probabilities):
    """Draw derangements of the groups from number `group` on, in one pass over each group.

    The algorithm is that of Martinez, Panholzer and Prodinger (Generating random derangements,
    ANALCO 2008). The array `closed` is working memory of the length of `image`.
    ``probabilities[u]`` is the probability of closing a cycle when u points are left. Beyond the
    end of the table this probability is 1/u. The Bernoulli draws use floating point. The return
    values are those of `derange_by_rejection`.
    """
    used = FIRST
    while group < len(starts) - 1:
        start, stop = starts[group], starts[group + 1]
        position = _close_cycles(bits, used, image, closed, start, stop, probabilities)
        if position == OUT_OF_BITS:
            break
        used = position
        group += 1
    return group, used


@njit
def _close_cycles(bits, position, image, closed, start, stop, probabilities):
    for i in range(start, stop):
        image[i] = i
        closed[i] = False
    left, i = stop - start, stop
    while left >= 2:
        i -= 1
        if closed[i]:
            continue
        while True:
            j, position = draw_below(bits, position, i - start)
            if position == OUT_OF_BITS:
                return position
            j += start
            if not closed[j]:
                break
        image[i], image[j] = image[j], image[i]
        if position == len(bits):
            return OUT_OF_BITS
        probability = probabilities[left] if left < len(probabilities) else 1.0 / left
        if (bits[position] >> DROPPED_BITS) * FLOAT_UNIT < probability:
            closed[j] = True
            left -= 1
        position += 1
        left -= 1
    return position
