"""How far partial sums are followed, and what that costs in memory, time and rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy

from isdp.exact.elimination.compiled_messages import Split, make_split, sum_splits
from isdp.exact.elimination.convolution import MAX_PLACES, Convolution, make_convolution
from isdp.exact.elimination.tree import EliminationForest, Node
from isdp.io.progress import progress

UNIT = 2.0**-53
MAX_WINDOW = 2.0**60
PRODUCTS_PER_PLACE = 2000.0  # products that take as long as a place of a convolution
PRODUCTS_AT_ONCE = 10**8  # a tenth of a second, between which progress shows
BYTES_PER_PLACE = 120  # bytes of a place of a convolution while it is found


class Plan(NamedTuple):
    """Windows and array sizes for one bound on what is left out.

    `halves[t][v]` are the windows of node v in tree t and `splits[t][v]` its loop's data (None
    for a leaf). `same[t][v]` numbers the node's message: nodes with equal numbers share one.
    `convolutions` has those numbers whose message is a convolution; the others are added up.
    `bytes` is what the messages take, and the room for the largest convolution. `products`
    overestimates the multiplications, and counts a convolution as those that take as long.

    `rounding` bounds what rounding does to a draw's law, in total variation, but for that of
    convolutions. On the way down, a state splits by inversion of its terms' running sum: each
    term's chance is off by the uniform's grid and by one rounding of the sum, two units of 2^-53
    together, and half their sum counts. Messages appear once above and once below a fraction, so
    that their own errors cancel but for the last sums of `lines` lines of `longest`.
    """

    halves: list[list[np.ndarray]]
    splits: list[list[Split | None]]
    message_ids: list[list[int]]
    convolutions: dict[int, Convolution]
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


def plan_truncation(
    layout: EliminationForest, power: int, rate: float, factor: float, lower, convolve: bool = True
) -> Plan:
    """Lay the windows out and count what they cost; `factor` comes from `radius`.

    With q the sums open at a time, windows hold about epsilon^-q states, and adding up all ways to
    split takes up to epsilon^-2q products. Where that takes longer than a convolution there is one,
    if `convolve` allows it.
    """
    numbers: dict = {}
    convolutions: dict[int, Convolution] = {}
    halves, splits, message_ids = [], [], []
    used, room, products, rounding = 0, 0, 0.0, 0.0
    for tree in layout.trees:
        halves.append([])
        splits.append([])
        message_ids.append([])
        for node in tree:
            half = np.floor(np.minimum(node.scale * factor, MAX_WINDOW) + 1e-9).astype(np.int64)
            split, parts, work = None, [], 0.0
            if node.cell >= 0:
                key = (node.gap, lower[node.cell], half.tobytes())
                largest = rate * float(node.gap * half[0]) ** power
                rounding += 4 * (1 + largest) * UNIT
                if len(tree) == 1:  # a cell of its own is drawn by inversion of all its weights
                    rounding += 2 * window_size(half) * UNIT
            else:
                parts = [halves[-1][part] for part in (node.left, node.right)]
                split = make_split(node.given, node.free, half, *parts)
                key = (
                    *(message_ids[-1][part] for part in (node.left, node.right)),
                    *(array.tobytes() for array in (node.given, node.free, half)),
                )
                lines, longest = max_splits(split)
                work = window_size(half) * lines * longest
                # each of the terms has a cut of its own on the grid of the uniform
                rounding += (lines * longest + 5 * (lines + longest)) * UNIT
            if key not in numbers:
                numbers[key] = len(numbers)
                used += 8 * window_size(half)
                found = _worth_convolving(node, split, parts, work) if convolve and split else None
                if found is not None:
                    convolutions[numbers[key]] = found
                    room, work = (
                        max(room, BYTES_PER_PLACE * found.places),
                        PRODUCTS_PER_PLACE * found.places,
                    )
                products += work
            if numbers[key] in convolutions:
                # what a state's splits weigh is added up anew when one of them is drawn
                rounding += (lines + longest + 8) * UNIT
            halves[-1].append(half)
            splits[-1].append(split)
            message_ids[-1].append(numbers[key])
    return Plan(halves, splits, message_ids, convolutions, used + room, products, rounding)


def _worth_convolving(node: Node, split: Split, parts, work: float) -> Convolution | None:
    """Find a union's convolution, or None where adding up all ways to split takes no longer."""
    least = max(window_size(part) for part in parts)  # no convolution has fewer places
    if not node.free.size or least > MAX_PLACES or work <= PRODUCTS_PER_PLACE * least:
        return None
    found = make_convolution(node.given, node.free, split.part_half, split.left)
    return found if found is not None and work > PRODUCTS_PER_PLACE * found.places else None


def max_splits(split: Split) -> tuple[float, float]:
    """Bound the ways in which a state can split: the lines that they make up, and their lengths."""
    longest = 2.0 * split.part_half.max(initial=0) + 1 if split.far else 1.0
    return float(np.prod(2 * split.reach + 1)), longest


def track_nodes(plan: Plan, tree: int, nodes: list) -> Iterator[tuple]:
    """Go through what there is of a tree's nodes, and show the progress by what they take.

    Yields
    ------
    callable
        Told what share of the node's message is done.
    """
    work, seen = [], set()
    for half, split, number in zip(
        plan.halves[tree], plan.splits[tree], plan.message_ids[tree], strict=True
    ):
        own = 1.0
        if split is not None and number not in seen:
            own = (
                PRODUCTS_PER_PLACE * plan.convolutions[number].places
                if number in plan.convolutions
                else (window_size(half) * math.prod(max_splits(split)))
            )
        seen.add(number)
        work.append(own)
    with progress("setting up messages", sum(work)) as at:
        for item, own, after in zip(nodes, work, np.cumsum(work).tolist(), strict=True):
            yield item, lambda share, own=own, after=after: at(after - (1 - share) * own)
            at(after)


def combine(
    split: Split,
    left: np.ndarray,
    right: np.ndarray,
    out: np.ndarray,
    at: Callable[[float], None] = lambda share: None,
) -> None:
    """Fill the union's message: the sum over all splits of the product of the parts' messages.

    Parameters
    ----------
    left, right : float64 arrays
        Of the parts.
    at : callable
        Told, some times a second, what share is done.
    """
    lines, longest = max_splits(split)
    rows = max(1, int(PRODUCTS_AT_ONCE / (lines * longest)))
    for first in range(0, len(out), rows):
        states = np.arange(first, min(first + rows, len(out)))
        sum_splits(split, left, right, states, out[first : first + rows])
        at((first + len(states)) / len(out))


def window_size(half: np.ndarray) -> int:
    """Count the states in a box."""
    return math.prod(2 * int(h) + 1 for h in half)
