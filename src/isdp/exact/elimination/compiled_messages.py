"""Compiled sums over the splits of a state, for the messages and draws of variable elimination.

A message is an array over a box of states, |x_j| <= half_j, in mixed radix with the last coordinate
fastest. A state x of a union splits into states (x1, x2) = given @ x + free @ y of its two parts,
for integer vectors y. The last entry of y runs along a line through both parts' boxes, whose ends
are computed exactly. The other entries run through a box that contains all of them.
"""

import math
from typing import NamedTuple

import numpy as np

from isdp.compiled import njit

NO_LIMIT = 1 << 60


class Split(NamedTuple):
    """Arrays of a union for the compiled loops.

    Attributes
    ----------
    half : int64 array, shape (dimension,)
    given : int64 array, shape (parts, dimension)
    outer : int64 array, shape (parts, inner dimension - 1)
    line : int64 array, shape (parts,)
        Last column of `free`; zeros if the inner dimension is zero.
    far : int
        Bound on the line's parameter before the boxes restrict it; 0 for no line.
    centre : float array, shape (inner dimension - 1, dimension)
    reach : float array, shape (inner dimension - 1,)
        ``|y - centre @ x| <= reach`` wherever both parts are in their boxes.
    part_half, stride : int64 arrays, shape (parts,)
        Window half-widths and strides of both parts' coordinates, stacked.
    left : int
        Number of coordinates of the left part.
    """

    half: np.ndarray
    given: np.ndarray
    outer: np.ndarray
    line: np.ndarray
    far: int
    centre: np.ndarray
    reach: np.ndarray
    part_half: np.ndarray
    stride: np.ndarray
    left: int


def make_split(given, free, half, left_half, right_half) -> Split:
    """Build the arrays for the loops; arguments as in `isdp.exact.elimination.tree.Node`."""
    part_half = np.concatenate([left_half, right_half])
    stride = np.concatenate([_strides(left_half), _strides(right_half)])
    inner = free.shape[1]
    centre, reach = np.zeros((0, len(half))), np.zeros(0)
    outer, line = free[:, :0], np.zeros(len(free), np.int64)
    if inner:
        inverse = np.linalg.pinv(free.astype(float))
        centre, reach = -(inverse @ given), np.abs(inverse) @ part_half
        outer, line = free[:, :-1], free[:, -1]
    return Split(
        half=half,
        given=np.ascontiguousarray(given),
        outer=np.ascontiguousarray(outer),
        line=np.ascontiguousarray(line),
        far=NO_LIMIT if inner else 0,
        centre=np.ascontiguousarray(centre[: max(inner - 1, 0)]),
        reach=np.ascontiguousarray(reach[: max(inner - 1, 0)]),
        part_half=part_half,
        stride=stride,
        left=len(left_half),
    )


def _strides(half: np.ndarray) -> np.ndarray:
    widths = 2 * half + 1
    return np.append(np.cumprod(widths[:0:-1])[::-1], 1)[: len(half)].astype(np.int64)


@njit(cache=True)
def _begin(split, flat, base, low, high, y):
    """Write the start of the state's lines and the box of outer y; False if the box is empty."""
    half, given, centre, reach = split.half, split.given, split.centre, split.reach
    base[:] = 0
    low[:] = 0
    high[:] = 0
    middle = np.zeros(len(reach))
    # the flat index of a state is x + half in mixed radix, last coordinate fastest
    for j in range(len(half) - 1, -1, -1):
        width = 2 * half[j] + 1
        x = flat % width - half[j]
        flat //= width
        for i in range(len(base)):
            base[i] += given[i, j] * x
        for i in range(len(reach)):
            middle[i] += centre[i, j] * x
    # padded by 1e-6 against rounding; a surplus y has an empty segment and adds 0
    for i in range(len(reach)):
        low[i] = math.ceil(middle[i] - reach[i] - 1e-6)
        high[i] = math.floor(middle[i] + reach[i] + 1e-6)
        y[i] = low[i]
        if low[i] > high[i]:
            return False
    return True


@njit(cache=True)
def _advance(low, high, y):
    """Step to the next outer y, last entry fastest; False after the last."""
    for i in range(len(y) - 1, -1, -1):
        if y[i] < high[i]:
            y[i] += 1
            return True
        y[i] = low[i]
    return False


@njit(cache=True)
def _segment(split, base, y):
    """Return the length of the line within both boxes, and its start in both messages."""
    outer, line, part_half = split.outer, split.line, split.part_half
    low, high = -split.far, split.far
    for i in range(len(base)):
        at = base[i]
        for j in range(len(y)):
            at += outer[i, j] * y[j]
        step = line[i]
        if step < 0:  # the box is symmetric: |at + step t| is |-at - step t|
            step, at = -step, -at
        if step == 0:
            if abs(at) > part_half[i]:
                return 0, 0, 0
        elif step == 1:
            low, high = max(low, -part_half[i] - at), min(high, part_half[i] - at)
        else:  # -half <= at + step t <= half; -(-a // b) rounds up
            low = max(low, -((part_half[i] + at) // step))
            high = min(high, (part_half[i] - at) // step)
    if low > high:
        return 0, 0, 0
    # flat indices of both parts' states at the start of the segment
    first, second = 0, 0
    for i in range(len(base)):
        at = base[i] + line[i] * low + part_half[i]
        for j in range(len(y)):
            at += outer[i, j] * y[j]
        if i < split.left:
            first += at * split.stride[i]
        else:
            second += at * split.stride[i]
    return high - low + 1, first, second


@njit(cache=True)
def _steps(split):
    """Return the index increments in both messages for one step along the line."""
    line, stride = split.line, split.stride
    first, second = 0, 0
    for i in range(len(line)):
        if i < split.left:
            first += line[i] * stride[i]
        else:
            second += line[i] * stride[i]
    return first, second


@njit(cache=True)
def _products(left, right, first, second, d1, d2, length):
    total = 0.0
    for t in range(length):
        total += left[first + t * d1] * right[second + t * d2]
    return total


@njit(cache=True)
def sum_splits(split, left, right, states, out):
    """Fill `out` with the union's message at the given states."""
    base = np.zeros(len(split.line), np.int64)
    box = np.zeros((3, len(split.reach)), np.int64)
    low, high, y = box[0], box[1], box[2]
    d1, d2 = _steps(split)
    for at in range(len(states)):
        total = 0.0
        going = _begin(split, states[at], base, low, high, y)
        while going:
            length, first, second = _segment(split, base, y)
            if length:
                total += _products(left, right, first, second, d1, d2, length)
            going = _advance(low, high, y)
        out[at] = total


@njit(cache=True)
def draw_splits(split, left, right, states, targets, lefts, rights):
    """Draw a split of each state, by inversion.

    `states` is sorted, and `targets` (uniform numbers times the union's message) is sorted within
    equal states, so that equal states units one pass. The parts' states go to `lefts`, `rights`.
    """
    base = np.zeros(len(split.line), np.int64)
    box = np.zeros((3, len(split.reach)), np.int64)
    low, high, y = box[0], box[1], box[2]
    d1, d2 = _steps(split)
    at = 0
    while at < len(states):
        end = at
        while end < len(states) and states[end] == states[at]:
            end += 1
        before = 0.0
        last1, last2 = -1, -1
        going = _begin(split, states[at], base, low, high, y)
        # terms follow one another in the order in which `sum_splits` added them, line by line, so
        # that `before` runs through the very partial sums that ended as the union's message
        while going and at < end:
            length, first, second = _segment(split, base, y)
            block = _products(left, right, first, second, d1, d2, length)
            if block > 0.0:
                running = before
                # by rounding the running sum may end before a target at the very end
                if targets[at] >= before + block:
                    last1, last2 = _last_possible(left, right, first, second, d1, d2, length)
                t = 0
                # targets are sorted, so that `at` and `t` only increase
                while at < end and targets[at] < before + block:
                    while t < length:
                        term = left[first + t * d1] * right[second + t * d2]
                        if term > 0.0:
                            last1, last2 = first + t * d1, second + t * d2
                            if targets[at] < running + term:
                                break
                            running += term
                        t += 1
                    lefts[at], rights[at] = last1, last2
                    at += 1
                before += block
            going = _advance(low, high, y)
        while at < end:  # by rounding the target exceeds the last sum
            lefts[at], rights[at] = last1, last2
            at += 1


@njit(cache=True)
def draw_integer_splits(split, left, right, states, factors, words, lefts, rights, units):
    """Draw a split of each state, by integer numbers of units out of 2^63.

    A split has ``max(1, ceil(product of the parts' weights * factor))`` units, which go to `units`.
    The caller's factors keep their sum below 2^63. A word of 63 random bits beyond all units gives
    0. `factors`, `words` and the results have one entry for each state.
    """
    base = np.zeros(len(split.line), np.int64)
    box = np.zeros((3, len(split.reach)), np.int64)
    low, high, y = box[0], box[1], box[2]
    d1, d2 = _steps(split)
    for i in range(len(states)):
        left_over = words[i]
        found = False
        lefts[i], rights[i], units[i] = 0, 0, 0
        going = _begin(split, states[i], base, low, high, y)
        while going and not found:
            length, first, second = _segment(split, base, y)
            for t in range(length):
                product = left[first + t * d1] * right[second + t * d2]
                own = max(1, np.int64(math.ceil(product * factors[i])))
                if left_over < own:
                    lefts[i], rights[i], units[i] = first + t * d1, second + t * d2, own
                    found = True
                    break
                left_over -= own
            going = _advance(low, high, y)


@njit(cache=True)
def _last_possible(left, right, first, second, d1, d2, length):
    for t in range(length - 1, -1, -1):
        if left[first + t * d1] * right[second + t * d2] > 0.0:
            return first + t * d1, second + t * d2
    return -1, -1
