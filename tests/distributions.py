"""Distributions of which the rate is a fraction, as a release asks for them."""

from fractions import Fraction

import numpy as np

from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.mechanisms.base import Energy, Target

CUTS = [-9, -4, -1, 0, 1, 3, 8]


def l1(epsilon):
    """Weight exp(-epsilon ||u||_1)."""
    return Target("l1 noise", Energy(1, False, Fraction(epsilon)))


def gaussian(variance):
    """Weight exp(-||u||_2^2 / (2 variance))."""
    return Target("Gaussian noise", Energy(2, False, 1 / (2 * Fraction(variance))))


def cell_distribution(invariants, mechanism, cell, cuts, lower=-(10**6)):
    """Probabilities of the noise of one cell below, between and above the cuts.

    They are ratios of normalisers: bounding the cell by a cut leaves the weight of all noise from
    that cut on.
    """
    lower = np.broadcast_to(lower, invariants.cells)
    bounds = [lower.copy() for _ in cuts]
    for bound, cut in zip(bounds, cuts, strict=True):
        bound[cell] = cut
    logs = [
        TruncatedEliminationSampler(invariants, mechanism, b).log_normaliser
        for b in [lower, *bounds]
    ]
    return -np.diff(np.exp(np.array([*logs, -np.inf]) - logs[0]))


def binned(noise, cuts):
    """Numbers of draws below, between and above the cuts."""
    return np.bincount(np.searchsorted(cuts, noise, side="right"), minlength=len(cuts) + 1)
