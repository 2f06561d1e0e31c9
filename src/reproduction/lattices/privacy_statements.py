"""Check the statements of ISDP on privacy by exact computation on small lattices.

ISDP is *Integer Subspace Differential Privacy*. Each function returns rows of the table
`lattice_statements`.
"""

import math
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import scipy

from isdp.accounting.divergences import approximate, multiplicative, total_variation
from isdp.constraints.invariants import Invariants
from isdp.exact.enumeration import enumerate_distribution
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mechanisms.base import Mechanism, l1_norm, l2_norm
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import (
    NORMS,
    GeneralizedLaplace,
    double_geometric_pmf,
)
from reproduction.jobs.statements import Row, compare
from reproduction.lattices.enumerated import (
    EPSILONS,
    GAUSSIAN,
    GAUSSIAN_RADIUS,
    GRID,
    LAPLACE,
    PAPER,
    SIGMAS,
    SMALL,
    list_outputs,
    list_points,
    probability,
)

MAX_DISTANCE = 6  # maximum norm of the difference of two tables
DELTAS = 1e-2, 1e-4, 1e-6
CONSTANTS = 1, 1.25, 1.5, 1.75, 2  # in the variance constant * ln(1 / delta) / epsilon^2


def list_differences(invariants: Invariants, norm: str) -> np.ndarray:
    """List the differences of two tables with equal invariants and a small distance."""
    points = list_points(invariants, MAX_DISTANCE)
    norms = l1_norm(points) if norm == "l1" else l2_norm(points)
    return points[(norms > 0) & (norms <= MAX_DISTANCE)]


def release_pair(
    mechanism: Mechanism, points: np.ndarray, difference: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the distributions of two releases on the outputs of both.

    The first table is zero and the second is `difference`. The values are the outputs of shape
    (output, cell), and their probabilities under the two tables.
    """
    outputs = np.vstack([points, points + difference])
    lowest = outputs.min(axis=0)
    # unique numbers of the outputs, because np.unique is slow for rows
    numbers = np.ravel_multi_index((outputs - lowest).T, outputs.max(axis=0) - lowest + 1)
    outputs = outputs[np.unique(numbers, return_index=True)[1]]
    return outputs, probability(mechanism, outputs), probability(mechanism, outputs - difference)


def exceeding(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """Compute the smallest delta with P(S) <= exp(epsilon) Q(S) + delta for all events S."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def check_privacy() -> Iterator[Row]:
    """Check all statements on privacy."""
    yield from check_smooth_privacy()
    yield from check_growing_error()
    yield from check_composition()
    yield from check_post_processing()
    yield from check_laplace_privacy()
    yield from check_gaussian_privacy()
    yield from check_unbounded_loss()
    yield from check_chain_error()


def check_smooth_privacy() -> Iterator[Row]:
    """Compare the loss at a distance with the loss at distance 1, without invariants."""
    for epsilon, norm in product(EPSILONS, NORMS):
        noise = GeneralizedLaplace(epsilon, norm)
        points = enumerate_distribution(GRID, noise).points
        differences = list_differences(GRID, "l1")
        losses = np.array(
            [multiplicative(*release_pair(noise, points, v)[1:]) for v in differences]
        )
        for name, distance in (("l1", l1_norm), ("l2", l2_norm)):
            sizes = distance(differences)
            bounds = sizes * losses[sizes == 1].max()
            setting = f"{norm} noise, epsilon {epsilon:g}"
            yield compare(f"smooth privacy, {name} distance", setting, losses, bounds)


def check_growing_error() -> Iterator[Row]:
    """Compare the delta of Gaussian noise at a distance with its delta at larger distances."""
    for (name, invariants), sigma, epsilon in product(SMALL.items(), SIGMAS, EPSILONS):
        points = list_points(invariants, GAUSSIAN_RADIUS * sigma)
        noise = GeneralizedGaussian(sigma)
        step = kernel_lattice(invariants, "lll").basis[:, 0]
        deltas = [
            exceeding(*release_pair(noise, points, k * step)[1:], epsilon * k * l2_norm(step))
            for k in range(1, 6)
        ]
        setting = f"{name}, sigma {sigma:g}, epsilon {epsilon:g}"
        yield compare("delta grows with the distance", setting, deltas[:-1], deltas[1:])


def check_composition() -> Iterator[Row]:
    """Compare the loss and the delta of two releases with the sums over the releases."""
    pairs = {
        "total of 3 cells, total of 2": (SMALL["total of 3 cells"], Invariants([[1, 1, 0]])),
        "rows and columns of 2 x 2": [Invariants.margins((2, 2), ((axis,),)) for axis in (0, 1)],
    }
    for name, (first, second) in pairs.items():
        both = Invariants(np.vstack([first.matrix, second.matrix]))
        losses, sums, deltas, delta_sums = [], [], [], []
        for v in list_differences(both, "l1"):
            pair = [
                _by_loss(*release_pair(noise, list_outputs(lattice, noise), v)[1:])
                for lattice, noise in ((first, GeneralizedLaplace(1)), (second, LAPLACE))
            ]
            losses.append(multiplicative(*_compose(pair)))
            sums.append(1.5 * l1_norm(v))
            pair = [
                _by_loss(*release_pair(noise, list_outputs(lattice, noise), v)[1:])
                for lattice, noise in ((first, GAUSSIAN), (second, GeneralizedGaussian(2)))
            ]
            deltas.append(exceeding(*_compose(pair), 1.5 * l2_norm(v)))
            each = zip(pair, (1, 0.5), strict=True)
            delta_sums.append(sum(exceeding(*one, share * l2_norm(v)) for one, share in each))
        yield compare("composition", f"{name}, Laplace loss", losses, sums)
        yield compare("composition", f"{name}, Gaussian delta", deltas, delta_sums)


def _by_loss(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Combine the outputs with equal losses. This changes no divergence."""
    losses, group = np.unique(np.round(np.log(p) - np.log(q), 9), return_inverse=True)
    return np.bincount(group, p, len(losses)), np.bincount(group, q, len(losses))


def _compose(pair: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Compute the joint distributions of two independent outputs under both tables."""
    (p, q), (other_p, other_q) = pair
    return np.outer(p, other_p).ravel(), np.outer(q, other_q).ravel()


def check_post_processing() -> Iterator[Row]:
    """Compare the loss of a function of a release with the loss of the release."""
    functions = {
        "truncation at 0": lambda y: [np.maximum(y + 1, 0)],
        "the first cell": lambda y: [y[:, :1]],
        "parity": lambda y: [y % 2],
        "rounding to a multiple of 3": lambda y: [np.round(y / 3)],
        "a random person added": lambda y: [y[:, :1], y[:, :1] + 1],  # with probability 1/2
    }
    for (name, function), noise in product(functions.items(), (LAPLACE, GAUSSIAN)):
        delta = 0.0 if noise is LAPLACE else 0.01
        after, before = [], []
        for invariants in SMALL.values():
            points = list_outputs(invariants, noise)
            for v in kernel_lattice(invariants, "lll").basis.T:
                outputs, p, q = release_pair(noise, points, v)
                images = function(outputs)
                _, group = np.unique(np.vstack(images), axis=0, return_inverse=True)
                pair = (
                    np.bincount(group.ravel(), np.tile(each / len(images), len(images)))
                    for each in (p, q)
                )
                after.append(approximate(*pair, delta))
                before.append(approximate(p, q, delta))
        yield compare("post-processing", f"{name}, {noise.name} noise", after, before)


def check_laplace_privacy() -> Iterator[Row]:
    """Compare the largest log-ratio of the probabilities of an output with epsilon d."""
    for (name, invariants), norm, epsilon in product(SMALL.items(), NORMS, EPSILONS):
        noise = GeneralizedLaplace(epsilon, norm)
        points = list_outputs(invariants, noise)
        differences = list_differences(invariants, norm)
        losses = [multiplicative(*release_pair(noise, points, v)[1:]) for v in differences]
        bounds = epsilon * noise.noise_norm(differences)
        yield compare("Laplace loss", f"{name}, {norm}, epsilon {epsilon:g}", losses, bounds)
    for (name, invariants), norm in product(PAPER.items(), NORMS):
        noise = GeneralizedLaplace(1, norm)
        basis = kernel_lattice(invariants, "lll").basis
        points = np.array(list(product((-1, 0, 1), repeat=basis.shape[1]))) @ basis.T
        weights = noise.log_weight(points)
        losses = [np.abs(weights - noise.log_weight(points - v)).max() for v in basis.T]
        yield compare("Laplace loss", f"{name}, {norm}", losses, noise.noise_norm(basis.T))


def check_gaussian_privacy() -> Iterator[Row]:
    """Compare the delta of tables at a distance d with the error term of the guarantee.

    The variance is c ln(1 / delta) / epsilon^2. The error term is that of group privacy, delta
    (e^(epsilon d) - 1) / (e^epsilon - 1), for all distances at which it is below 1. Other rows have
    the error term delta d, and the smallest of the constants c that suffices.
    """
    for (name, invariants), epsilon, delta in product(SMALL.items(), EPSILONS, DELTAS):
        setting = f"{name}, epsilon {epsilon:g}, delta {delta:g}"
        ratios = {}
        for constant in CONSTANTS:
            variance = constant * math.log(1 / delta) / epsilon**2
            farthest = math.log1p(math.expm1(epsilon) / delta) / epsilon
            distances, deltas = _deltas_by_distance(invariants, epsilon, variance, farthest)
            bounds = delta * np.expm1(epsilon * distances) / math.expm1(epsilon)
            row = compare("Gaussian delta", setting, deltas, bounds)
            ratios[constant] = row["ratio"]
        yield row
        yield compare("Gaussian delta, linear error term", setting, deltas, delta * distances)
        enough = [c for c, ratio in ratios.items() if ratio <= 1] or [math.inf]
        yield compare("Gaussian constant", setting, [min(enough)], [CONSTANTS[-1]])


def _deltas_by_distance(
    invariants: Invariants, epsilon: float, variance: float, farthest: float
) -> tuple[np.ndarray, np.ndarray]:
    """Compute delta for one pair of tables at each distance d, with the loss epsilon d."""
    points = list_points(invariants, GAUSSIAN_RADIUS * math.sqrt(variance))
    p = probability(GeneralizedGaussian(math.sqrt(variance)), points)
    norms, first = np.unique(l2_norm(points), return_index=True)
    inside = (norms > 0) & (norms < farthest)
    deltas = []
    for distance, v in zip(norms[inside], points[first[inside]], strict=True):
        loss = (distance**2 - 2 * (points @ v)) / (2 * variance)
        deltas.append(float(p @ np.maximum(-np.expm1(epsilon * distance - loss), 0)))
    return norms[inside], np.array(deltas)


def check_unbounded_loss() -> Iterator[Row]:
    """Compare the largest loss of Gaussian noise within a ball with that in a larger ball."""
    for (name, invariants), sigma in product(SMALL.items(), SIGMAS):
        noise = GeneralizedGaussian(sigma)
        step = kernel_lattice(invariants, "lll").basis[:, 0]
        losses = [
            multiplicative(*release_pair(noise, list_points(invariants, factor * sigma), step)[1:])
            for factor in (5, 10, 20)
        ]
        pairs = list(pairwise(losses))
        setting = f"{name}, sigma {sigma:g}"
        yield compare("Gaussian loss", setting, *zip(*pairs, strict=True))


def check_chain_error() -> Iterator[Row]:
    """Compare the delta of noise after t iterations with the distance of the chain from its target.

    The Metropolis chain on the lattice of a 2 x 2 table proposes discrete Laplace steps, and starts
    at 0. If its total variation distance from the target is D, the noise has the guarantee of the
    target with an additional delta of (1 + exp(epsilon d)) D.
    """
    reach, epsilon, distance = 60, 0.1, 4
    states = np.arange(-reach, reach + 1)
    target = scipy.special.softmax(-epsilon * distance * np.abs(states))
    step = double_geometric_pmf(states[:, None] - states, 0.5)
    kernel = step * np.minimum(1, target / target[:, None])
    np.fill_diagonal(kernel, 0)
    kernel += np.diag(1 - kernel.sum(axis=1))
    start = (states == 0).astype(float)
    for t in (1, 4, 16, 64):
        noise = start @ np.linalg.matrix_power(kernel, t)
        away = total_variation(noise / noise.sum(), target)
        deltas, bounds = [], []
        for moves in (1, 2, 3):
            loss = epsilon * distance * moves
            shifted = np.pad(noise, (moves, 0))
            deltas.append(exceeding(shifted, np.pad(noise, (0, moves)), loss))
            bounds.append((1 + math.exp(loss)) * away)
        yield compare("chain error", f"{t} iterations", deltas, bounds)
