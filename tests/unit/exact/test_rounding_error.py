"""Bounds on rounding are upper bounds: the real errors, found with more digits, lie below them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import select_sampler
from isdp.exact.overlapping.compiled_klein import mass
from isdp.exact.overlapping.klein import gram_schmidt
from isdp.exact.overlapping.l2_mixture import MixtureSampler, coefficient_error, frame_error
from isdp.exact.sampler import UNIT_ROUNDOFF

GRID = 1 << 53  # the uniforms are multiples of 1 / GRID


@pytest.mark.parametrize("s", [0.7, 3.0, 50.0])
def test_geometric_steps_are_as_near_as_is_said(s):
    """The steps of a wide Gaussian, ``floor(-s log1p(-U))``, by bisection over the grid of U."""
    most = math.ceil(37 * s) + 2

    def steps(j):
        return math.floor(-s * math.log1p(-j * UNIT_ROUNDOFF)) if j < GRID else most

    cuts = [0]
    for k in range(1, most):
        low, high = cuts[-1], GRID
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if steps(middle) >= k else (middle + 1, high)
        cuts.append(low)
    counts = np.diff([*cuts, GRID]).tolist()
    with ctx.workprec(200):
        chances = [(arb(-k) / arb(s)).exp() * -(arb(-1) / arb(s)).expm1() for k in range(most)]
        off = sum(abs(float(arb(n) / GRID - p)) for n, p in zip(counts, chances, strict=True)) / 2
    assert 0 < off <= coefficient_error(np.array([s]))


def exact_mass(s, c):
    """m(s, c) to 200 bits."""
    terms = ((-((arb(k) - arb(c)) ** 2) / (2 * arb(s) ** 2)).exp() for k in range(-60, 61))
    return sum(terms, arb(0))


@pytest.mark.parametrize("s", [0.01, 0.1, 0.3, 0.49, 0.6, 1.0, 2.4])
@pytest.mark.parametrize("c", [0.05, 0.3, 0.5])
def test_the_probability_to_go_on_is_within_the_units_that_are_said(s, c):
    with ctx.workprec(200):
        exact = float(exact_mass(s, c) / exact_mass(s, 0.0))
    assert abs(mass(s, c) / mass(s, 0.0) - exact) < 10 * UNIT_ROUNDOFF


@pytest.mark.parametrize(
    "invariants",
    [
        Invariants.total(6),
        Invariants.margins((3, 4)),
        Invariants([[7, 0, -3, 1], [0, -5, 2, 0]]),
        Invariants([[1, 2, 3, 4, 5], [5, 0, 0, -3, 1]]),
    ],
)
def test_frames_are_as_near_as_is_said(invariants):
    """What a frame of doubles does to the quadratic form, in exact fractions."""
    frame = gram_schmidt(invariants)
    d = len(frame.lengths)
    squares = [Fraction(x) ** 2 for x in frame.lengths.tolist()]
    mu = [[Fraction(x) for x in row] for row in (np.eye(d) + frame.mu).tolist()]
    basis = frame.basis.astype(object)
    gram = basis.T @ basis
    g = np.sqrt(np.diag(np.linalg.inv(gram.astype(float))))
    off = 0.0
    for i, j in np.ndindex(d, d):
        rounded = sum(squares[k] * mu[k][i] * mu[k][j] for k in range(d))
        off += abs(float(gram[i, j] - rounded)) * g[i] * g[j]
    assert off <= frame_error(frame) < 1e-11


def test_the_choice_of_sigma_is_as_near_as_is_said():
    """Bins of the mixture: their probabilities in doubles against 200 bits."""
    sampler = MixtureSampler(Invariants.total(4), GeneralizedLaplace(0.4, "l2"))
    bins, lengths = sampler.bins, sampler.frame.lengths
    with ctx.workprec(200):
        weights = []
        for left in bins.left.tolist():
            product = arb(1)
            for length in lengths.tolist():
                s = (arb(left) + arb(float(bins.width))) / arb(length)
                farthest = int(20 * float(s)) + 2  # terms beyond are below exp(-200)
                terms = ((-(arb(k) ** 2) / (2 * s**2)).exp() for k in range(1, farthest))
                product *= 1 + 2 * sum(terms, arb(0))
            weights.append(product * (-((arb(0.4) * arb(left)) ** 2) / 2).exp())
            if len(weights) == 400:
                break
        total = sum(weights, arb(0))
        exact = np.array([float(weight / total) for weight in weights])
    real = np.diff([0.0, *bins.cumulative[:400]]) / bins.cumulative[399]
    assert 0 < np.abs(real - exact).sum() / 2 <= sampler.error


@pytest.mark.parametrize(
    ("law", "lower"),
    [(GeneralizedLaplace(0.25), np.full(16, -3)), (GeneralizedLaplace(0.25, "l2"), None)],
)
def test_no_sampler_in_floating_point_says_that_it_is_free_of_error(law, lower):
    chosen = select_sampler(law, Invariants.margins((4, 4)), lower)
    assert 1e-14 < chosen.error == chosen.sampler.error < 1e-10


def test_errors_grow_with_what_makes_them():
    table = Invariants.margins((3, 3))
    laws = (GeneralizedLaplace(1 / scale, "l2") for scale in (4.0, 4e6))
    narrow, wide = (MixtureSampler(table, law).error for law in laws)
    assert wide > 1e5 * narrow
