"""Compiled sums over the splits of a state, for the messages and draws of variable elimination.

A message is an array over a box of states, |x_j| <= half_j, in mixed radix. The last coordinate
changes fastest. A state x of a union splits into states x1 and x2 of its parts. The splits are (x1,
x2) = given @ x + free @ y for integer vectors y. The last entry of y varies along a line through
the boxes of both parts, and the ends of the line are computed exactly. The other entries of y, the
outer entries, vary in a box that contains all possible values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isdp.arrays import FloatArray, IntArray
from isdp.compiled import njit

NO_LIMIT = 1 << 60


class Split(NamedTuple):
    """Arrays of a union for the compiled loops.

    Attributes
    ----------
    half : int64 array, shape (dimension,)
    given : int64 array, shape (parts, dimension)
    outer : int64 array, shape (parts, inner dimension - 1)
        All columns of `free` but the last.
    line : int64 array, shape (parts,)
        The last column of `free`, or zeros if the inner dimension is zero.
    line_limit : int
        The initial bound on the last entry of y, or 0 if the inner dimension is zero.
    centre : float array, shape (inner dimension - 1, dimension)
    reach : float array, shape (inner dimension - 1,)
        If both parts are in their boxes, the outer entries satisfy ``|y - centre @ x| <= reach``.
    part_half, stride : int64 arrays, shape (parts,)
        The half-widths of the windows and the strides of both parts' coordinates, stacked.
    left : int
        The number of coordinates of the left part.
    """

    half: IntArray
    given: IntArray
    outer: IntArray
    line: IntArray
    line_limit: int
    centre: FloatArray
    reach: FloatArray
    part_half: IntArray
    stride: IntArray
    left: int


def make_split(
    given: IntArray, free: IntArray, half: IntArray, left_half: IntArray, right_half: IntArray
) -> Split:
    """Build the arrays of a union from its `isdp.exact.elimination.tree.Node` and its windows."""
    part_half = np.concatenate([left_half, right_half])
    stride = np.concatenate([_strides(left_half), _strides(right_half)])
    inner = free.shape[1]
    centre: FloatArray = np.zeros((0, len(half)))
    reach: FloatArray = np.zeros(0)
    outer, line = free[:, :0], np.zeros(len(free), np.int64)
    if inner:
        inverse = np.linalg.pinv(free.astype(float))
        centre, reach = -(inverse @ given.astype(float)), np.abs(inverse) @ part_half
        outer, line = free[:, :-1], free[:, -1]
    return Split(
        half=half,
        given=np.ascontiguousarray(given),
        outer=np.ascontiguousarray(outer),
        line=np.ascontiguousarray(line),
        line_limit=NO_LIMIT if inner else 0,
        centre=np.ascontiguousarray(centre[: max(inner - 1, 0)]),
        reach=np.ascontiguousarray(reach[: max(inner - 1, 0)]),
        part_half=part_half,
        stride=stride,
        left=len(left_half),
    )


def _strides(half: IntArray) -> IntArray:
    widths = 2 * half + 1
    return np.append(np.cumprod(widths[:0:-1])[::-1], 1)[: len(half)].astype(np.int64)


@njit
def _begin(
    split: Split, flat: int, base: IntArray, low: IntArray, high: IntArray, y: IntArray
) -> bool:
    """Compute ``given @ x`` (base) and the box of the outer y, and return whether it has points."""
    half, given, centre, reach = split.half, split.given, split.centre, split.reach
    base[:] = 0
    low[:] = 0
    high[:] = 0
    middle = np.zeros(len(reach))
    # the flat index of a state is x + half in mixed radix
    for j in range(len(half) - 1, -1, -1):
        width = 2 * half[j] + 1
        x = flat % width - half[j]
        flat //= width
        for i in range(len(base)):
            base[i] += given[i, j] * x
        for i in range(len(reach)):
            middle[i] += centre[i, j] * x
    # The box is enlarged by 1e-6 because of rounding. An additional y has an empty segment.
    for i in range(len(reach)):
        low[i] = math.ceil(middle[i] - reach[i] - 1e-6)
        high[i] = math.floor(middle[i] + reach[i] + 1e-6)
        y[i] = low[i]
        if low[i] > high[i]:
            return False
    return True


@njit
def _advance(low: IntArray, high: IntArray, y: IntArray) -> bool:
    """Change y to the next point of the box, and return False after the last point."""
    for i in range(len(y) - 1, -1, -1):
        if y[i] < high[i]:
            y[i] += 1
            return True
        y[i] = low[i]
    return False


@njit
def _segment(split: Split, base: IntArray, y: IntArray) -> tuple[int, int, int]:
    """Return the length of the line in both boxes, and its first index in both messages."""
    outer, line, part_half = split.outer, split.line, split.part_half
    low, high = -split.line_limit, split.line_limit
    for i in range(len(base)):
        x = base[i]
        for j in range(len(y)):
            x += outer[i, j] * y[j]
        step = line[i]
        if step < 0:  # the box is symmetric, and |x + step t| is |-x - step t|
            step, x = -step, -x
        if step == 0:
            if abs(x) > part_half[i]:
                return 0, 0, 0
        elif step == 1:
            low, high = max(low, -part_half[i] - x), min(high, part_half[i] - x)
        else:  # the condition is -half <= x + step t <= half, and -(-a // b) rounds up
            low = max(low, -((part_half[i] + x) // step))
            high = min(high, (part_half[i] - x) // step)
    if low > high:
        return 0, 0, 0
    first, second = 0, 0
    for i in range(len(base)):
        x = base[i] + line[i] * low + part_half[i]
        for j in range(len(y)):
            x += outer[i, j] * y[j]
        if i < split.left:
            first += x * split.stride[i]
        else:
            second += x * split.stride[i]
    return high - low + 1, first, second


@njit
def _steps(split: Split) -> tuple[int, int]:
    """Return the increments of the indices in both messages for one step along the line."""
    line, stride = split.line, split.stride
    first, second = 0, 0
    for i in range(len(line)):
        if i < split.left:
            first += line[i] * stride[i]
        else:
            second += line[i] * stride[i]
    return first, second


@njit
def _products(
    left: FloatArray, right: FloatArray, first: int, second: int, d1: int, d2: int, length: int
) -> float:
    total = 0.0
    for t in range(length):
        total += left[first + t * d1] * right[second + t * d2]
    return total


@njit
def sum_splits(
    split: Split, left: FloatArray, right: FloatArray, states: IntArray, out: FloatArray
) -> None:
    """Write the message of the union at the given states into `out`."""
    base = np.zeros(len(split.line), np.int64)
    box = np.zeros((3, len(split.reach)), np.int64)
    low, high, y = box[0], box[1], box[2]
    d1, d2 = _steps(split)
    for i in range(len(states)):
        total = 0.0
        going = _begin(split, states[i], base, low, high, y)
        while going:
            length, first, second = _segment(split, base, y)
            if length:
                total += _products(left, right, first, second, d1, d2, length)
            going = _advance(low, high, y)
        out[i] = total


@njit
def draw_splits(
    split: Split,
    left: FloatArray,
    right: FloatArray,
    states: IntArray,
    targets: FloatArray,
    lefts: IntArray,
    rights: IntArray,
) -> None:
    """Draw a split of each state by inversion, and write the parts' states to `lefts` and `rights`.

    `states` must be sorted. `targets` are uniform numbers times the union's message. The targets
    must be sorted for each state, so that one pass over the splits draws all splits of equal
    states.
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
        # terms are added in the same order as in `sum_splits`, so that the last value of `before`
        # is exactly the message of the union
        while going and at < end:
            length, first, second = _segment(split, base, y)
            block = _products(left, right, first, second, d1, d2, length)
            if block > 0.0:
                running = before
                # because of rounding, the running sum may end below a target near the end
                if targets[at] >= before + block:
                    last1, last2 = _last_possible(left, right, first, second, d1, d2, length)
                t = 0
                # `at` and `t` only increase, because targets are sorted
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
        while at < end:  # because of rounding, these targets exceed the last sum
            lefts[at], rights[at] = last1, last2
            at += 1


@njit
def draw_integer_splits(
    split: Split,
    left: FloatArray,
    right: FloatArray,
    states: IntArray,
    factors: FloatArray,
    words: IntArray,
    lefts: IntArray,
    rights: IntArray,
    units: IntArray,
) -> None:
    """Draw a split of each state with a probability of `units` times 2^-63, for integer units.

    A split has ``max(1, ceil(product of the parts' weights * factor))`` units. The factors must
    keep the sum of the units of a state below 2^63. If a word of 63 random bits is beyond all
    units, 0 is written to `units`. All arrays but the messages have one entry for each state.
    """
    base = np.zeros(len(split.line), np.int64)
    box = np.zeros((3, len(split.reach)), np.int64)
    low, high, y = box[0], box[1], box[2]
    d1, d2 = _steps(split)
    for i in range(len(states)):
        remaining = words[i]
        found = False
        lefts[i], rights[i], units[i] = 0, 0, 0
        going = _begin(split, states[i], base, low, high, y)
        while going and not found:
            length, first, second = _segment(split, base, y)
            for t in range(length):
                product = left[first + t * d1] * right[second + t * d2]
                own = max(1, math.ceil(product * factors[i]))
                if remaining < own:
                    lefts[i], rights[i], units[i] = first + t * d1, second + t * d2, own
                    found = True
                    break
                remaining -= own
            going = _advance(low, high, y)


@njit
def _last_possible(
    left: FloatArray, right: FloatArray, first: int, second: int, d1: int, d2: int, length: int
) -> tuple[int, int]:
    for t in range(length - 1, -1, -1):
        if left[first + t * d1] * right[second + t * d2] > 0.0:
            return first + t * d1, second + t * d2
    return -1, -1
