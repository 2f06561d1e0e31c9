"""Check the densities of CDP, Example 4.1 and Appendix A, in congenial_statements.

Sums of exponentials are compared by their coefficients, in rational arithmetic. Other densities are
compared with numerical integrals.

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import scipy

from reproduction.congenial.two_bin import log_density
from reproduction.jobs.statements import Row, compare, count_failures

EPSILONS = tuple(map(Fraction, ("1/2", "1", "2")))
BETAS = tuple(map(Fraction, ("1/10", "1/4", "2/5", "3/5", "3/4", "9/10")))
POINTS = 0.0, 0.3, 1.0, 4.0, 15.0  # in units of 1 / epsilon
RELATIVE_ERROR = 1e-8  # of a numerical integral

Exponentials = dict[Fraction, Fraction]  # coefficients of exp(-rate x), by the rates


def check_densities(rng: np.random.Generator) -> Iterator[Row]:
    """Check all statements on densities."""
    for epsilon in EPSILONS:
        yield from check_integrals(epsilon)
        yield check_derivatives(epsilon)
    yield from check_characteristic_functions()
    yield from check_theorem_a1(rng)


def projected_density(epsilon: Fraction, beta: Fraction) -> Exponentials:
    """Return the printed density (A.1) at x > 0."""
    factor = epsilon / (4 * (2 * beta - 1))
    return {epsilon / (2 * beta): factor * beta, epsilon / (2 - 2 * beta): -factor * (1 - beta)}


def _value(density: Exponentials, x: float) -> float:
    return sum(float(c) * math.exp(-float(rate) * x) for rate, c in density.items())


def _agrees(printed: Callable, log_integral: Callable, epsilon: Fraction) -> list[bool]:
    points = [point / float(epsilon) for point in POINTS]
    return [
        math.isclose(printed(x), math.exp(log_integral(x)), rel_tol=RELATIVE_ERROR) for x in points
    ]


def check_integrals(epsilon: Fraction) -> Iterator[Row]:
    """Compare the printed densities with numerical integrals ((4.6), (4.7), (A.1), (A.2))."""
    rate, setting = float(epsilon), f"epsilon {epsilon}"
    laplace, gamma = (scipy.stats.laplace(scale=1 / rate), scipy.stats.gamma(2, scale=1 / rate))
    conditional = _agrees(laplace.pdf, log_density(rate, None), epsilon)
    yield count_failures("conditional density", setting, conditional)

    def mixture(x: float) -> float:  # (4.7)
        return laplace.pdf(x) / 2 + gamma.pdf(x) / 4

    def closed(x: float) -> float:  # (A.2)
        return rate / 4 * (1 + rate * x) * math.exp(-rate * x)

    integral = log_density(rate, 0.5)
    holds = [*_agrees(mixture, integral, epsilon), *_agrees(closed, integral, epsilon)]
    holds += _agrees(scipy.stats.laplace(scale=2 / rate).pdf, log_density(rate, 1), epsilon)
    for beta in BETAS:
        printed = projected_density(epsilon, beta)
        integral = log_density(rate, float(beta))
        holds += _agrees(lambda x, printed=printed: _value(printed, x), integral, epsilon)
    yield count_failures("projected density", setting, holds)
    regions = [_sum_of_regions(epsilon, beta) == projected_density(epsilon, beta) for beta in BETAS]
    yield count_failures("three regions", setting, regions)


def _sum_of_regions(epsilon: Fraction, beta: Fraction) -> Exponentials:
    """Add the printed integrals I1 to I3."""
    middle = epsilon / (8 * (2 * beta - 1))
    return {
        epsilon / (2 * beta): epsilon / 8 + middle,
        epsilon / (2 - 2 * beta): epsilon / 8 - middle,
    }


def _derivative(density: Exponentials) -> Exponentials:
    return {rate: -rate * c for rate, c in density.items()}


def _times_exponential(density: Exponentials, alpha: Fraction) -> Exponentials:
    """Multiply a density by exp(alpha x)."""
    return {rate - alpha: c for rate, c in density.items()}


def check_derivatives(epsilon: Fraction) -> Row:
    """Check the printed derivatives of (A.1), and the smallest constant c of condition (ii)."""
    holds = []
    for beta in BETAS:
        density = projected_density(epsilon, beta)
        slow, fast = density
        factor = epsilon**2 / (8 * (2 * beta - 1))
        derivative = _derivative(density)
        # the sum is 0 at x = 0, and the term that lasts longer is negative
        holds += [derivative == {slow: -factor, fast: factor}, derivative[min(slow, fast)] < 0]
        if beta < Fraction(1, 2):
            continue
        smallest = 1 / (2 * beta)
        for c in (smallest, Fraction(9, 10), smallest * Fraction(999, 1000)):
            w, rest = 2 * c * beta - 1, 2 * (1 - c)
            printed = {-w / (2 * beta) * epsilon: factor * w}
            printed[(w + rest) / (2 - 2 * beta) * epsilon] = factor * (w + rest)
            growth = _derivative(_times_exponential(density, c * epsilon))
            lasting = growth[min(growth)]
            holds += [growth == printed, (lasting >= 0) == (c >= smallest)]
            holds.append(c < smallest or min(growth.values()) >= 0)
    return count_failures("derivatives of the density", f"epsilon {epsilon}", holds)


def check_characteristic_functions() -> Iterator[Row]:
    """Compare characteristic functions at epsilon = 1, in rational arithmetic (Section 4)."""
    squares = [Fraction(k, 3) for k in range(1, 20)]  # squared arguments
    laplace = [1 / (1 + t) for t in squares]
    signed_gamma = [(1 - t) / (1 + t) ** 2 for t in squares]
    pairs = list(zip(laplace, signed_gamma, strict=True))
    mixture = [2 * one**2 == one + other for one, other in pairs]
    yield count_failures("mixture of Laplace and signed Gamma", "epsilon 1", mixture)
    same = [one**2 == other for one, other in pairs]
    yield count_failures("sum of two Laplace variables", "epsilon 1", same)
    weights = [(beta**2 / (2 * beta - 1), -((1 - beta) ** 2) / (2 * beta - 1)) for beta in BETAS]
    holds = [one + other == 1 and one * other < 0 for one, other in weights]  # Remark I
    yield count_failures("weights of the mixture", "weights beta", holds)


def check_theorem_a1(rng: np.random.Generator) -> Iterator[Row]:
    """Compare log-ratios with alpha |a - b|, for functions that meet (i) and (ii) (Theorem A.1)."""
    grid = np.array(list(product(range(-6, 7), repeat=2)))
    shifts = np.array(list(product(range(-2, 3), repeat=2)))
    for norm, alpha in product((1, 2, np.inf), (0.3, 2.0)):
        sizes = {key: np.linalg.norm(each, norm, axis=-1).round(9) for key, each in (
            ("x - a", grid[:, None] - shifts), ("a - b", shifts[:, None] - shifts)
        )}  # fmt: skip
        radii, place = np.unique(sizes["x - a"], return_inverse=True)
        # log f falls by a random share of the largest fall that (ii) allows
        falls = alpha * np.diff(radii) * rng.beta(0.3, 0.3, size=len(radii) - 1)
        log = -np.concatenate([[0], np.cumsum(falls)])[place].reshape(sizes["x - a"].shape)
        losses = (log[:, :, None] - log[:, None]).max(axis=0)
        differ = sizes["a - b"] > 0
        bounds = alpha * sizes["a - b"][differ]
        name = f"l{'infinity' if norm == np.inf else norm} norm, alpha {alpha:g}"
        yield compare("Theorem A.1", name, losses[differ], bounds)
