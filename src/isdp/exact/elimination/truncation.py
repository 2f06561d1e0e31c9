"""Truncation windows of partial sums, and their cost in memory, time and rounding errors."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from isdp.arrays import FloatArray, IntArray
from isdp.exact.elimination.compiled_messages import Split, make_split, sum_splits
from isdp.exact.elimination.convolution import MAX_PLACES, Convolution, convolve, make_convolution
from isdp.exact.elimination.tree import EliminationForest, Node
from isdp.exact.sampler import UNIT_ROUNDOFF
from isdp.io.progress import progress

MAX_WINDOW = 2.0**60
MAX_PRODUCTS = 1e11  # maximum number of products; this number takes minutes
# number of products that take as long as one coefficient of a convolution
PRODUCTS_PER_PLACE = 2000.0
PRODUCTS_AT_ONCE = 10**8  # number of products between two reports of progress
BYTES_PER_PLACE = 120  # memory per coefficient of a convolution


class PlannedNode(NamedTuple):
    """A node of an elimination tree with its truncation windows.

    Attributes
    ----------
    half : int64 array, shape (dimension,)
        The half-widths of the windows.
    message : int
        The number of the message of the node. Nodes with equal numbers share a message.
    """

    node: Node
    half: IntArray
    split: Split | None
    message: int


class TruncationPlan(NamedTuple):
    """Windows, arrays and cost for one bound on the probability outside the windows.

    Attributes
    ----------
    trees : list of list of PlannedNode
        The nodes of each tree in the order of `isdp.exact.elimination.tree.EliminationForest`.
    convolutions : dict of int to Convolution
        The keys are message numbers. All other messages are summed term by term.
    bytes : int
        The memory of the messages and of the largest convolution.
    products : float
        An upper estimate of the number of multiplications. A convolution counts as the number of
        multiplications that take the same time.
    rounding : float
        A bound on the effect of rounding in total variation distance, without errors of
        convolutions.

    Notes
    -----
    A draw splits a state by inversion of the running sum of its terms. The grid of the uniform
    variable and one rounding of the sum change the probability of each term by at most two units of
    2^-53. Half of the sum of these changes bounds the total variation. A message occurs in one
    numerator and in one denominator, so that its errors cancel, except for the errors of the last
    sums over its lines.
    """

    trees: list[list[PlannedNode]]
    convolutions: dict[int, Convolution]
    bytes: int
    products: float
    rounding: float


def truncation_factor(
    power: int, rate: float, dimension: int, coordinates: int, log_left_out: float
) -> float:
    """Return the ratio of the half-widths of windows to the scales of their nodes.

    `dimension` is the dimension of the noise lattice, and `coordinates` is the total number of
    coordinates of all nodes. `log_left_out` is the logarithm of the maximum probability that noise
    without lower bounds is outside at least one window.
    """
    if power == 2:
        return math.sqrt((math.log(2 * max(coordinates, 1)) - log_left_out) / rate)
    d = max(dimension, 1)

    def missing(x: float) -> float:  # Chernoff's bound for a Gamma(d, 1) variable
        return x - d - d * math.log(x / d) + log_left_out

    return float(scipy.optimize.brentq(missing, d, 2 * (d - log_left_out) + 10)) / rate


def plan_truncation(
    forest: EliminationForest,
    power: int,
    rate: float,
    factor: float,
    lower: FloatArray,
    convolve: bool = True,
) -> TruncationPlan:
    """Choose the windows and compute their cost.

    The windows of a frontier of q sums contain about epsilon^-q states, and the sum over all splits
    takes up to epsilon^-2q products. `factor` is the result of `truncation_factor`, and `lower` has
    the lower bound on the noise of each cell. Convolutions are used if they are allowed and faster.
    """
    numbers: dict[tuple[object, ...], int] = {}
    convolutions: dict[int, Convolution] = {}
    trees: list[list[PlannedNode]] = []
    used, peak, products, rounding = 0, 0, 0.0, 0.0
    for tree in forest.trees:
        planned: list[PlannedNode] = []
        for node in tree:
            half = np.floor(np.minimum(node.scale * factor, MAX_WINDOW) + 1e-9).astype(np.int64)
            key: tuple[object, ...]
            split, found, work = None, None, 0.0
            if node.cell >= 0:
                key = (node.gap, lower[node.cell], half.tobytes())
                largest = rate * float(node.gap * half[0]) ** power
                rounding += 4 * (1 + largest) * UNIT_ROUNDOFF
                if len(tree) == 1:  # a free cell is drawn by inversion over all its weights
                    rounding += 2 * box_size(half) * UNIT_ROUNDOFF
            else:
                left, right = planned[node.left], planned[node.right]
                split = make_split(node.given, node.free, half, left.half, right.half)
                arrays = (array.tobytes() for array in (node.given, node.free, half))
                key = (left.message, right.message, *arrays)
                lines, longest = max_splits(split)
                work = box_size(half) * lines * longest
                # each term has its own threshold on the grid of the uniform variable
                rounding += (lines * longest + 5 * (lines + longest)) * UNIT_ROUNDOFF
            if key not in numbers:
                numbers[key] = len(numbers)
                used += 8 * box_size(half)
                if convolve and split is not None:
                    found = _worth_convolving(node, split, work)
                if found is not None:
                    convolutions[numbers[key]] = found
                    peak = max(peak, BYTES_PER_PLACE * found.places)
                    work = PRODUCTS_PER_PLACE * found.places
                products += work
            if numbers[key] in convolutions:
                # a draw sums the weights of a state's splits again
                rounding += (lines + longest + 8) * UNIT_ROUNDOFF
            planned.append(PlannedNode(node, half, split, numbers[key]))
        trees.append(planned)
    return TruncationPlan(trees, convolutions, used + peak, products, rounding)


def _worth_convolving(node: Node, split: Split, work: float) -> Convolution | None:
    """Return the convolution of a union, or None if the sum over its splits is as fast."""
    halves = split.part_half[: split.left], split.part_half[split.left :]
    places = max(box_size(half) for half in halves)  # no convolution has fewer coefficients
    if not node.free.size or places > MAX_PLACES or work <= PRODUCTS_PER_PLACE * places:
        return None
    found = make_convolution(node.given, node.free, split.part_half, split.left)
    return found if found is not None and work > PRODUCTS_PER_PLACE * found.places else None


def max_splits(split: Split) -> tuple[float, float]:
    """Return bounds on the number of lines of splits of a state, and on their length."""
    longest = 2.0 * split.part_half.max(initial=0) + 1 if split.line_limit else 1.0
    return float(np.prod(2 * split.reach + 1)), longest


def track_nodes(
    plan: TruncationPlan, tree: list[PlannedNode]
) -> Iterator[tuple[PlannedNode, Callable[[float], None]]]:
    """Yield the nodes of a tree, each with a function that reports its completed share."""
    work: list[float] = []
    seen: set[int] = set()
    for _, half, split, message in tree:
        own = 1.0
        if split is not None and message not in seen:
            if message in plan.convolutions:
                own = PRODUCTS_PER_PLACE * plan.convolutions[message].places
            else:
                own = box_size(half) * math.prod(max_splits(split))
        seen.add(message)
        work.append(own)
    with progress("setting up messages", sum(work)) as report:
        for node, own, after in zip(tree, work, np.cumsum(work).tolist(), strict=True):
            yield node, partial(_report_share, report, own, after)
            report(after)


def _report_share(report: Callable[[float], None], own: float, after: float, share: float) -> None:
    report(after - (1 - share) * own)


def union_message(
    plan: TruncationPlan,
    number: int,
    split: Split,
    left: FloatArray,
    right: FloatArray,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[FloatArray, float]:
    """Compute the message of a union from the messages of its parts.

    The message is the convolution of the messages of the parts, or a sum over the splits of each
    state. The second result bounds the excess of a convolution. For a sum, the function calls
    ``report(share)`` several times per second with the completed share.
    """
    if number in plan.convolutions:
        return convolve(plan.convolutions[number], split, left, right)
    message = np.empty(box_size(split.half))
    rows = max(1, int(PRODUCTS_AT_ONCE / math.prod(max_splits(split))))
    for first in range(0, len(message), rows):
        states = np.arange(first, min(first + rows, len(message)))
        sum_splits(split, left, right, states, message[first : first + rows])
        report((first + len(states)) / len(message))
    return message, 0.0


def box_size(half: IntArray) -> int:
    """Return the number of states in a box with the given half-widths."""
    return math.prod(2 * int(h) + 1 for h in half)
