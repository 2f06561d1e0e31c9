"""Truncation windows of partial sums, and their cost in memory, time and rounding."""

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

UNIT_ROUNDOFF = 2.0**-53
MAX_WINDOW = 2.0**60
PRODUCTS_PER_PLACE = 2000.0  # products in the time of one coefficient of a convolution
PRODUCTS_AT_ONCE = 10**8  # a tenth of a second between two reports of progress
BYTES_PER_PLACE = 120  # of a coefficient of a convolution during its computation


class TruncationPlan(NamedTuple):
    """Windows and arrays for one bound on the probability left out.

    Attributes
    ----------
    half_widths, splits, message_ids : lists of lists
        ``[t][v]`` belongs to node v of tree t: the int64 half-widths of its windows, the `Split` of
        its loop (None for a leaf), and the number of its message. Nodes with equal numbers share a
        message.
    convolutions : dict of int to Convolution
        By message number. All other messages are summed term by term.
    bytes : int
        Memory of the messages and of the largest convolution.
    products : float
        Upper estimate of the multiplications, with convolutions counted by their time.
    rounding : float
        Bound on the effect of rounding in total variation, without that of convolutions. On the way
        down, a state splits by inversion of the running sum of its terms. The probability of each
        term is wrong by the uniform's grid and by one rounding of the sum, together two units of
        2^-53, and half their sum counts. Messages occur once above and once below a fraction, so
        that their own errors cancel except for the last sums of `lines` lines of `longest`.
    """

    half_widths: list[list[np.ndarray]]
    splits: list[list[Split | None]]
    message_ids: list[list[int]]
    convolutions: dict[int, Convolution]
    bytes: int
    products: float
    rounding: float


def truncation_factor(
    power: int, rate: float, dimension: int, coordinates: int, log_left_out: float
) -> float:
    """Return the factor from a node's scale to its windows.

    Parameters
    ----------
    power, rate
        As in `isdp.mechanisms.base.Energy`.
    dimension : int
        Dimension of the noise lattice.
    coordinates : int
        Number of coordinates of all nodes together.
    log_left_out : float
        Log of the largest probability outside all windows together, without bounds on the noise.
    """
    if power == 2:
        return math.sqrt((math.log(2 * max(coordinates, 1)) - log_left_out) / rate)
    d = max(dimension, 1)
    most = 2 * (d - log_left_out) + 10

    def missing(x):  # Chernoff's bound for Gamma(d, 1)
        return x - d - d * math.log(x / d) + log_left_out

    return scipy.optimize.brentq(missing, d, most) / rate


def plan_truncation(
    forest: EliminationForest, power: int, rate: float, factor: float, lower, convolve: bool = True
) -> TruncationPlan:
    """Choose the windows and compute their cost; `factor` comes from `truncation_factor`.

    For a frontier of q sums, windows hold about epsilon^-q states, and the sum over all splits
    takes up to epsilon^-2q products. Where a convolution is faster it is used, if `convolve` allows
    it.
    """
    numbers: dict = {}
    convolutions: dict[int, Convolution] = {}
    half_widths, splits, message_ids = [], [], []
    used, peak, products, rounding = 0, 0, 0.0, 0.0
    for tree in forest.trees:
        half_widths.append([])
        splits.append([])
        message_ids.append([])
        for node in tree:
            half = np.floor(np.minimum(node.scale * factor, MAX_WINDOW) + 1e-9).astype(np.int64)
            split, parts, work = None, [], 0.0
            if node.cell >= 0:
                key = (node.gap, lower[node.cell], half.tobytes())
                largest = rate * float(node.gap * half[0]) ** power
                rounding += 4 * (1 + largest) * UNIT_ROUNDOFF
                if len(tree) == 1:  # a free cell is drawn by inversion of all its weights
                    rounding += 2 * box_size(half) * UNIT_ROUNDOFF
            else:
                parts = [half_widths[-1][part] for part in (node.left, node.right)]
                split = make_split(node.given, node.free, half, *parts)
                key = (
                    *(message_ids[-1][part] for part in (node.left, node.right)),
                    *(array.tobytes() for array in (node.given, node.free, half)),
                )
                lines, longest = max_splits(split)
                work = box_size(half) * lines * longest
                # each term has its own threshold on the grid of the uniform variable
                rounding += (lines * longest + 5 * (lines + longest)) * UNIT_ROUNDOFF
            if key not in numbers:
                numbers[key] = len(numbers)
                used += 8 * box_size(half)
                found = _worth_convolving(node, split, parts, work) if convolve and split else None
                if found is not None:
                    convolutions[numbers[key]] = found
                    peak, work = (
                        max(peak, BYTES_PER_PLACE * found.places),
                        PRODUCTS_PER_PLACE * found.places,
                    )
                products += work
            if numbers[key] in convolutions:
                # the weights of a state's splits are summed again when one of them is drawn
                rounding += (lines + longest + 8) * UNIT_ROUNDOFF
            half_widths[-1].append(half)
            splits[-1].append(split)
            message_ids[-1].append(numbers[key])
    return TruncationPlan(
        half_widths, splits, message_ids, convolutions, used + peak, products, rounding
    )


def _worth_convolving(node: Node, split: Split, parts, work: float) -> Convolution | None:
    """Return a union's convolution, or None where the sum over all splits is not slower."""
    places = max(box_size(part) for part in parts)  # no convolution has fewer places
    if not node.free.size or places > MAX_PLACES or work <= PRODUCTS_PER_PLACE * places:
        return None
    found = make_convolution(node.given, node.free, split.part_half, split.left)
    return found if found is not None and work > PRODUCTS_PER_PLACE * found.places else None


def max_splits(split: Split) -> tuple[float, float]:
    """Bound the splits of a state: the number of lines, and their length."""
    longest = 2.0 * split.part_half.max(initial=0) + 1 if split.far else 1.0
    return float(np.prod(2 * split.reach + 1)), longest


def track_nodes(plan: TruncationPlan, tree: int, nodes: list) -> Iterator[tuple]:
    """Iterate over items of a tree's nodes, and report progress by their cost.

    Yields
    ------
    item
    callable
        Takes the finished share of the node's message.
    """
    work, seen = [], set()
    for half, split, number in zip(
        plan.half_widths[tree], plan.splits[tree], plan.message_ids[tree], strict=True
    ):
        own = 1.0
        if split is not None and number not in seen:
            own = (
                PRODUCTS_PER_PLACE * plan.convolutions[number].places
                if number in plan.convolutions
                else (box_size(half) * math.prod(max_splits(split)))
            )
        seen.add(number)
        work.append(own)
    with progress("setting up messages", sum(work)) as at:
        for item, own, after in zip(nodes, work, np.cumsum(work).tolist(), strict=True):
            yield item, lambda share, own=own, after=after: at(after - (1 - share) * own)
            at(after)


def sum_messages(
    split: Split,
    left: np.ndarray,
    right: np.ndarray,
    out: np.ndarray,
    at: Callable[[float], None] = lambda share: None,
) -> None:
    """Fill the union's message with the sums over all splits of the products of its parts.

    Parameters
    ----------
    left, right : float64 arrays
        Messages of the parts.
    at : callable
        Takes the finished share, several times per second.
    """
    lines, longest = max_splits(split)
    rows = max(1, int(PRODUCTS_AT_ONCE / (lines * longest)))
    for first in range(0, len(out), rows):
        states = np.arange(first, min(first + rows, len(out)))
        sum_splits(split, left, right, states, out[first : first + rows])
        at((first + len(states)) / len(out))


def box_size(half: np.ndarray) -> int:
    """Return the number of states in a box."""
    return math.prod(2 * int(h) + 1 for h in half)
