"""Compiled loops of permutation swapping; they read a stream of random 64-bit words.

A group (the records selected in one stratum) whose words run out is left for the next call, which
is given the same words from the group's start on, and more behind them. So the outcome is a
function of the endless stream alone, however it is cut into pieces; fresh words instead would
favour outcomes that need few.
"""

from __future__ import annotations

import numpy as np

from isdp.compiled import njit

# a plain 0 is a type of its own to numba, which would compile twice what it is given to
FIRST = np.int64(0)
OUT_OF_WORDS = -1
UNIT = 2.0**-53
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
SIZES_OF_HALF = np.uint64(1 << 32)
SHORTEST_FLOAT = np.uint64(11)  # 64 - 53 bits of a word that a float has no room for


@njit(cache=True)
def below(words, at, bound):
    """Whole number from 0 to bound - 1, all equally likely, and where the next word is.

    The upper half of a word times `bound` spreads 2^32 numbers over `bound` boxes (D. Lemire, Fast
    random integer generation in an interval, 2019). The boxes hold equally many once the first
    2^32 mod bound numbers of each are refused. At most 2^32 as a bound; `OUT_OF_WORDS` as the
    place says that the words did not suffice.
    """
    width = np.uint64(bound)
    while at < len(words):
        product = (words[at] >> HALF) * width
        at += 1
        low = product & LOW
        if low >= width or low >= (SIZES_OF_HALF - width) % width:
            return np.int64(product >> HALF), at
    return np.int64(0), OUT_OF_WORDS


@njit(cache=True)
def draw_bernoulli(words, tosses, done, numerator, denominator):
    """Fill `tosses` from `done` on with coins of chance numerator / denominator.

    Returns the number of tosses done and of words used.
    """
    used = FIRST
    while done < len(tosses):
        number, at = below(words, used, denominator)
        if at == OUT_OF_WORDS:
            break
        tosses[done] = number < numerator
        done += 1
        used = at
    return done, used


@njit(cache=True)
def derange_by_rejection(words, starts, group, image):
    """Derange each group from `group` on: shuffle, and begin again at the first fixed point.

    Returns the first group that is not done, and the number of words used up to there.
    """
    used = FIRST
    while group < len(starts) - 1:
        at = _shuffle_until_deranged(words, used, image, starts[group], starts[group + 1])
        if at == OUT_OF_WORDS:
            break
        used = at
        group += 1
    return group, used


@njit(cache=True)
def _shuffle_until_deranged(words, at, image, start, stop):
    for i in range(start, stop):
        image[i] = i
    i = stop - 1
    while i >= start:
        j, at = below(words, at, i - start + 1)
        if at == OUT_OF_WORDS:
            return at
        j += start
        image[i], image[j] = image[j], image[i]
        # from whatever order a shuffle begins, all orders are equally likely at its end
        i = stop - 1 if image[i] == i else i - 1
    return at


@njit(cache=True)
def derange_by_closing_cycles(words, starts, group, image, closed, chances):
    """Derange each group by closing cycles with the right chance; arguments and return as above.

    `closed` is scratch of the length of `image`; ``chances[u]`` is the chance to close a cycle
    with u points left, and 1/u beyond (C. Martinez, A. Panholzer, H. Prodinger, Generating random
    derangements, ANALCO 2008). The coin is in floating point.
    """
    used = FIRST
    while group < len(starts) - 1:
        at = _close_cycles(words, used, image, closed, starts[group], starts[group + 1], chances)
        if at == OUT_OF_WORDS:
            break
        used = at
        group += 1
    return group, used


@njit(cache=True)
def _close_cycles(words, at, image, closed, start, stop, chances):
    for i in range(start, stop):
        image[i] = i
        closed[i] = False
    left, i = stop - start, stop
    while left >= 2:
        i -= 1
        if closed[i]:
            continue
        while True:
            j, at = below(words, at, i - start)
            if at == OUT_OF_WORDS:
                return at
            j += start
            if not closed[j]:
                break
        image[i], image[j] = image[j], image[i]
        if at == len(words):
            return OUT_OF_WORDS
        chance = chances[left] if left < len(chances) else 1.0 / left
        if (words[at] >> SHORTEST_FLOAT) * UNIT < chance:
            closed[j] = True
            left -= 1
        at += 1
        left -= 1
    return at
