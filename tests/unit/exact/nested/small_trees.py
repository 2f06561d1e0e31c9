"""Small trees with held totals, and their noise by enumeration and by the dual lattice."""

import numpy as np

from isdp import Invariants
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mechanisms import NestedGaussian, NestedLaplace, SetTree

# sets of 5 cells, held sets of cells
FAMILIES = {
    "root held": ([[0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [2, 3]], [[0, 1, 2, 3, 4]]),
    "inner set held": ([[0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [2, 3]], [[2, 3, 4]]),
    "root and inner set held": (
        [[0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [2, 3]],
        [[0, 1, 2, 3, 4], [2, 3]],
    ),
    "cell held": ([[0, 1, 2, 3, 4], [0, 1, 2], [3, 4]], [[4], [0, 1, 2, 3, 4]]),
    "all parts held": ([[0, 1, 2, 3], [0, 1], [2, 3]], [[0, 1], [2, 3]]),
    "sets without a root, total held": ([[0, 1], [2, 3, 4]], [[0, 1, 2, 3, 4]]),
    "several sets held together": ([[0, 1, 2, 3, 4], [0, 1], [2, 3]], [[0, 1, 2, 3]]),
    "cells only": ([], [[0, 1, 2, 3]]),
    "single children": (None, [[0, 1, 2, 3, 4]]),
}
SINGLE = {"state": list("aaabb"), "county": list("xxxyz")}  # state a is county x; y and z are cells
HALF = 16  # the coefficients are enumerated up to this size


def scales_of(nodes, kind):
    """Different scales for different nodes; one set has no term."""
    if kind is NestedLaplace:
        scales = [2, 2, "9/5", "9/5", 2, "1/2", "1/3", "1/2", "3/4", "1/4", "2/3"]
    else:
        scales = ["2/3", "2/3", 1, 1, "3/4", 3, "1/2", 1, 2, "5/3", 4]
    scales = scales[:nodes]
    if nodes > 6:
        scales[6] = None
    return scales


def small_noise(name, kind=NestedGaussian):
    """The mechanism and the invariants of a family."""
    sets, held = FAMILIES[name]
    tree = SetTree.from_columns(SINGLE) if sets is None else SetTree.from_sets(sets, 5)
    return kind(tree, scales_of(tree.nodes, kind)), Invariants.subsets(held, 5)


def enumerate_noise(noise, invariants):
    """All noise vectors up to a size, and their probabilities."""
    basis = kernel_lattice(invariants, "lll").basis
    half = HALF if basis.shape[1] < 4 else 13
    axes = np.meshgrid(*[np.arange(-half, half + 1)] * basis.shape[1], indexing="ij")
    points = np.stack([axis.ravel() for axis in axes], axis=1) @ basis.T
    weights = np.exp(noise.log_weight(points))
    kept = weights > 1e-22
    return points[kept], weights[kept] / weights.sum()


def covariance_by_the_dual_lattice(form, invariants, sums):
    """The covariances of sums of the cells of integer Gaussian noise with a quadratic form.

    The derivatives at 0 of the characteristic function, by Poisson's summation formula. The dual
    lattice is enumerated until its terms are below 1e-20, and shares no step with the sampler.

    Parameters
    ----------
    form : array, shape (cells, cells)
    sums : array, shape (sums, cells)

    Returns
    -------
    tuple of arrays, each of shape (sums, sums)
        The covariances of the integer noise and of the real-valued noise.
    """
    basis = kernel_lattice(invariants, "lll").basis.astype(float)
    inverse = np.linalg.inv(basis.T @ form @ basis)  # the covariance of the coefficients
    # |k_i| is at most sqrt(form_ii * k inverse k) for the inverse of `inverse`
    reach = np.sqrt(np.diag(np.linalg.inv(inverse)) * 46 / (2 * np.pi**2)).astype(int)
    axes = np.meshgrid(*[np.arange(-r, r + 1) for r in reach], indexing="ij")
    dual = np.stack([axis.ravel() for axis in axes], axis=1)
    variances = np.einsum("ki,ij,kj->k", dual, inverse, dual)
    weights = np.exp(-2 * np.pi**2 * variances)
    real = sums @ basis @ inverse @ basis.T @ sums.T
    shared = sums @ basis @ inverse @ dual.T
    return real - 4 * np.pi**2 * (shared * weights) @ shared.T / weights.sum(), real
