"""How far partial sums are followed, and what that costs in memory, time and rounding."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from isdp.exact.messages.loops import Split, make_split
from isdp.exact.messages.tree import Layout

UNIT = 2.0**-53
LARGEST_WINDOW = 2.0**60


class Plan(NamedTuple):
    """Windows and array sizes for one bound on what is left out.

    `halves[t][v]` are the windows of node v in tree t and `splits[t][v]` its loop's data (None
    for a leaf). `same[t][v]` numbers the node's message: nodes with equal numbers share one.
    `products` overestimates the multiplications, `rounding` bounds what rounding does to a
    draw's law, in total variation. On the way down, a state splits by inversion of its terms'
    running sum: each term's chance is off by the uniform's grid and by one rounding of the sum, two
    units of 2^-53 together, and half their sum counts. Messages appear once above and once below
    a fraction, so that their own errors cancel but for the last sums of `lines` lines of `longest`.
    """

    halves: list[list[np.ndarray]]
    splits: list[list[Split | None]]
    same: list[list[int]]
    bytes: int
    products: float
    rounding: float


def radius(power: int, rate: float, dimension: int, coordinates: int, log_left_out: float) -> float:
    """Give the factor that turns a node's scale into its windows.

    Parameters
    ----------
    power, rate
        As in `isdp.mechanisms.base.Energy`.
    dimension : int
        Of the noise lattice.
    coordinates : int
        How many coordinates have windows, all nodes together.
    log_left_out : float
        Log of the probability that the law without bounds may lose to all windows together.
    """
    if power == 2:
        return math.sqrt((math.log(2 * max(coordinates, 1)) - log_left_out) / rate)
    d = max(dimension, 1)
    most = 2 * (d - log_left_out) + 10

    def missing(x):  # Chernoff's bound for Gamma(d, 1)
        return x - d - d * math.log(x / d) + log_left_out

    return scipy.optimize.brentq(missing, d, most) / rate


def make_plan(layout: Layout, power: int, rate: float, factor: float, lower, upper) -> Plan:
    """Lay the windows out and count what they cost; `factor` comes from `radius`."""
    numbers: dict = {}
    halves, splits, same = [], [], []
    used, products, rounding = 0, 0.0, 0.0
    for tree in layout.trees:
        halves.append([])
        splits.append([])
        same.append([])
        for node in tree:
            half = np.floor(np.minimum(node.scale * factor, LARGEST_WINDOW) + 1e-9).astype(np.int64)
            split, work = None, 0.0
            if node.cell >= 0:
                key = (node.gap, lower[node.cell], upper[node.cell], half.tobytes())
                largest = rate * float(node.gap * half[0]) ** power
                rounding += 4 * (1 + largest) * UNIT
                if len(tree) == 1:  # a cell of its own is drawn by inversion of all its weights
                    rounding += 2 * window_size(half) * UNIT
            else:
                parts = [halves[-1][part] for part in (node.left, node.right)]
                split = make_split(node.given, node.free, half, *parts)
                key = (
                    *(same[-1][part] for part in (node.left, node.right)),
                    *(array.tobytes() for array in (node.given, node.free, half)),
                )
                lines = float(np.prod(2 * split.reach + 1))
                longest = 2.0 * split.part_half.max(initial=0) + 1 if node.free.size else 1.0
                work = window_size(half) * lines * longest
                # each of the terms has a cut of its own on the grid of the uniform
                rounding += (lines * longest + 5 * (lines + longest)) * UNIT
            if key not in numbers:
                numbers[key] = len(numbers)
                used += 8 * window_size(half)
                products += work
            halves[-1].append(half)
            splits[-1].append(split)
            same[-1].append(numbers[key])
    return Plan(halves, splits, same, used, products, rounding)


def window_size(half: np.ndarray) -> int:
    """Count the states in a box."""
    return math.prod(2 * int(h) + 1 for h in half)
