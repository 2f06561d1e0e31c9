"""Compiled parts of redrawing two rows at once: laws of the columns, and the draw from messages."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isdp.compiled import njit

DEPTH = 40.0  # weights below exp(-DEPTH) of a column's largest are left out


@njit(cache=True)
def _log_weight(x, k, shifts, signs, kinds, laws):
    """Log-weight of a column whose first place holds x: the others follow."""
    total = 0.0
    last = laws.shape[1] - 1
    for j in range(len(signs)):
        value = abs(signs[j] * x + shifts[j, k])
        kind = kinds[j, k]
        if value <= last:
            total += laws[kind, value]
        else:  # beyond, the law falls by its last ratio
            total += laws[kind, last] + (value - last) * (laws[kind, last] - laws[kind, last - 1])
    return total


@njit(cache=True)
def column_laws(state, places, signs, kind_of, laws, step, remainders):
    """Law of the first place's noise in each column, as if the columns were free of one another.

    In column k the noise at ``places[j, k]`` stays a number plus ``signs[j]`` times that at
    ``places[0, k]``, and ``signs[0]`` is 1. The weight is the product over the places, which is
    log-concave; ``laws[kind_of[place], |x|]`` are their logarithms. It is taken at every
    `step`-th integer, those with the column's remainder.

    Returns
    -------
    pmf : float64 array, shape (columns, width)
        From the least value of each column on, zero beyond its largest.
    least : int64 array, shape (columns,)
    length : int64 array, shape (columns,)
        Values of each column.
    mean : float64 array, shape (columns,)
        Of the steps from the least value.
    variance : float64 array, shape (columns,)
        Of these steps.
    """
    rows, columns = places.shape
    shifts = np.empty((rows, columns), dtype=np.int64)
    kinds = np.empty((rows, columns), dtype=np.int64)
    least = np.empty(columns, dtype=np.int64)
    length = np.empty(columns, dtype=np.int64)
    peak = np.empty(columns)
    for k in range(columns):
        for j in range(rows):
            shifts[j, k] = state[places[j, k]] - signs[j] * state[places[0, k]]
            kinds[j, k] = kind_of[places[j, k]]
        x = state[places[0, k]]
        x += (remainders[k] - x) % step
        top = _log_weight(x, k, shifts, signs, kinds, laws)
        for way in (-step, step):
            while True:
                then = _log_weight(x + way, k, shifts, signs, kinds, laws)
                if then <= top:
                    break
                x, top = x + way, then
        low = x
        while _log_weight(low - step, k, shifts, signs, kinds, laws) >= top - DEPTH:
            low -= step
        high = x
        while _log_weight(high + step, k, shifts, signs, kinds, laws) >= top - DEPTH:
            high += step
        least[k], length[k], peak[k] = low, (high - low) // step + 1, top
    pmf = np.zeros((columns, length.max()))
    mean, variance = np.zeros(columns), np.zeros(columns)
    for k in range(columns):
        total, first, second = 0.0, 0.0, 0.0
        for i in range(length[k]):
            x = least[k] + i * step
            weight = math.exp(_log_weight(x, k, shifts, signs, kinds, laws) - peak[k])
            pmf[k, i] = weight
            total += weight
            first += weight * i
            second += weight * i * i
        for i in range(length[k]):  # one by one: to divide a row takes seconds to compile
            pmf[k, i] /= total
        mean[k] = first / total
        variance[k] = second / total - mean[k] * mean[k]
    return pmf, least, length, mean, variance


@njit(cache=True)
def rolled(pmf, centre, order, width):
    """Laws of the columns in their order, each about its centre, modulo a width."""
    laws = np.zeros((len(order), width))
    for row in range(len(order)):
        column = order[row]
        for i in range(pmf.shape[1]):
            laws[row, (i - centre[column]) % width] = pmf[column, i]
    return laws


@njit(cache=True)
def products(spectra):
    """Products of the rows before each pair of rows, and then of each pair; an odd one is alone."""
    rows, width = spectra.shape
    half = (rows + 1) // 2
    both = np.empty((2 * half, width), dtype=np.complex128)
    for i in range(width):
        before = 1.0 + 0.0j
        for g in range(half):
            pair = spectra[2 * g, i]
            if 2 * g + 1 < rows:
                pair *= spectra[2 * g + 1, i]
            both[g, i], both[half + g, i] = before, pair
            before *= pair
    return both


@njit(cache=True)
def _invert(weights, uniform):
    """First place at which the running sum of the weights passes a share of the whole; -1 if 0."""
    total = 0.0
    for weight in weights:
        total += weight
    if not total > 0.0:
        return -1
    goal, running, found = uniform * total, 0.0, -1
    for i in range(len(weights)):
        if weights[i] > 0.0:
            running += weights[i]
            found = i
            if running > goal:
                break
    return found


class Side(NamedTuple):
    """What a chain's draw takes: the laws of its columns, and messages along them.

    Attributes
    ----------
    pmf, length
        From `column_laws`.
    centre : int64 array, shape (columns,)
        Where each column's zero lies in its `pmf`: values are counted from there.
    before : float64 array, shape (pairs, reach)
        Messages: the law of the sum of all pairs before each, at x modulo `reach`.
    of_pair : float64 array, shape (pairs, reach)
        Law of each pair's sum, likewise.
    goal : int
        What the columns add up to.
    """

    pmf: np.ndarray
    length: np.ndarray
    centre: np.ndarray
    before: np.ndarray
    of_pair: np.ndarray
    goal: int


@njit(cache=True)
def _bounds_of_pair(side, order, g):
    """Least and largest sum of a pair of columns, or of the odd one."""
    least, most = 0, 0
    for at in range(2 * g, min(2 * g + 2, len(order))):
        k = order[at]
        least -= side.centre[k]
        most += side.length[k] - 1 - side.centre[k]
    return least, most


@njit(cache=True)
def _weights_of_pair(side, order, g, rest):
    """Least value, and weights from there on, of a later pair's sum given that of all up to it."""
    least, most = _bounds_of_pair(side, order, g)
    reach = side.before.shape[1]
    # what is left for the others stays where no message wraps around
    low = max(least, rest - (reach - 1) // 2)
    high = min(most, rest + (reach - 1) // 2)
    weights = np.empty(max(high - low + 1, 0))
    for i in range(len(weights)):
        x = low + i
        ours, theirs = side.of_pair[g, x % reach], side.before[g, (rest - x) % reach]
        weights[i] = max(ours, 0.0) * max(theirs, 0.0)  # transforms leave dust of either sign
    return low, weights


@njit(cache=True)
def _law_of_pair(side, order, g, rest):
    """Least value, and probabilities from there on, of a pair's sum given that of all up to it."""
    if g == 0:
        least, most = _bounds_of_pair(side, order, g)
        one = 1 if least <= rest <= most else 0
        return rest, np.ones(one)
    low, weights = _weights_of_pair(side, order, g, rest)
    total = weights.sum()
    if not total > 0.0:
        return low, weights[:0]
    return low, weights / total


@njit(cache=True)
def _weights_of_split(side, order, g, together):
    """Least place of a pair's first column, and weights from there on, given the pair's sum."""
    one, other = order[2 * g], order[2 * g + 1]
    start = together + side.centre[one] + side.centre[other]
    low = max(0, start - side.length[other] + 1)
    high = min(side.length[one] - 1, start)
    weights = np.empty(max(high - low + 1, 0))
    for i in range(len(weights)):
        weights[i] = side.pmf[one, low + i] * side.pmf[other, start - low - i]
    return low, weights


@njit(cache=True)
def _split(side, order, g, together, uniform, drawn):
    """Split a pair's sum between its columns; return whether it can be."""
    one = order[2 * g]
    if 2 * g + 1 == len(order):
        drawn[one] = together
        return True
    low, weights = _weights_of_split(side, order, g, together)
    found = _invert(weights, uniform)
    if found < 0:
        return False
    drawn[one] = low + found - side.centre[one]
    drawn[order[2 * g + 1]] = together - drawn[one]
    return True


@njit(cache=True)
def draw_columns(uniforms, side, order):
    """Draw the columns given what they add up to; an array of length 0 where that cannot be.

    Columns are taken in pairs, ``order[2 g]`` and ``order[2 g + 1]``, an odd one alone at the end
    of `order`. From the last pair to the first, the sum of a pair is drawn given the sum of all
    pairs up to it, and then how it is split. Every draw inverts one uniform, of as many as columns
    and one more, so that equal uniforms give near laws near values.
    """
    drawn, rest = np.zeros(len(order), dtype=np.int64), side.goal
    for g in range((len(order) + 1) // 2 - 1, -1, -1):
        low, weights = _law_of_pair(side, order, g, rest)
        found = _invert(weights, uniforms[2 * g])
        if found < 0 or not _split(side, order, g, low + found, uniforms[2 * g + 1], drawn):
            return drawn[:0]
        rest -= low + found
    return drawn


@njit(cache=True)
def log_chance(drawn, side, order):
    """Log-probability that `draw_columns` draws this, int64 (columns,); -inf where it cannot."""
    total = 0.0
    for k in range(len(drawn)):
        i = drawn[k] + side.centre[k]
        if i < 0 or i >= side.length[k] or not side.pmf[k, i] > 0.0:
            return -math.inf
        total += math.log(side.pmf[k, i])
    return total - math.log(_chance_of_goal(side, order))


@njit(cache=True)
def _chance_of_goal(side, order):
    """Probability that the columns add up to the goal."""
    g = (len(order) + 1) // 2 - 1
    if g > 0:
        return _weights_of_pair(side, order, g, side.goal)[1].sum()
    if len(order) == 1:
        return side.pmf[order[0], side.goal + side.centre[order[0]]]
    return _weights_of_split(side, order, g, side.goal)[1].sum()


@njit(cache=True)
def alikeness(one, one_length, other, other_length, ahead):
    """Product over the columns of sum sqrt(p q), the Bhattacharyya coefficient of two laws.

    Parameters
    ----------
    one, other : float64 arrays, shape (columns, width)
    one_length, other_length : int64 arrays, shape (columns,)
    ahead : int64 array, shape (columns,)
        Place in `other` that belongs to place 0 in `one`.
    """
    product = 1.0
    for k in range(len(ahead)):
        total = 0.0
        low = max(0, -ahead[k])
        for i in range(low, min(one_length[k], other_length[k] - ahead[k])):
            total += math.sqrt(one[k, i] * other[k, i + ahead[k]])
        product *= total
    return product
