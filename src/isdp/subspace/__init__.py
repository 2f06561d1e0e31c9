"""Subspace differential privacy: real-valued noise that keeps invariants of the answers exact.

After *Subspace Differential Privacy* (Gao, Gong, Yu; AAAI 2022, arXiv 2108.11527), "SDP" in the
docstrings. Queries and what is held; the projected, extended, correlated and K-norm mechanisms,
each with its exact covariance, error and guarantee; what they really guarantee; and lower bounds
for all additive mechanisms. The noise is continuous, in floating point: for study, not for the
release of confidential data (that is `isdp.exact.release`).

The names load when they are first used, with what each needs.

Examples
--------
>>> import numpy as np
>>> from isdp import Invariants, subspace
>>> query, held = subspace.Query.hierarchy((4, 4)), Invariants.subsets([[0]], 21)
>>> round(subspace.KNorm(query, held, epsilon=1.0).error, 3)
196.941
"""

from isdp.loading import when_first_used

_HOMES = {
    "CorrelatedGaussian": "isdp.subspace.gaussian",
    "ExtendedGaussian": "isdp.subspace.gaussian",
    "ExtendedLaplace": "isdp.subspace.laplace",
    "KNorm": "isdp.subspace.knorm",
    "NullSpace": "isdp.subspace.nullspace",
    "ProjectedGaussian": "isdp.subspace.gaussian",
    "ProjectedLaplace": "isdp.subspace.laplace",
    "Query": "isdp.subspace.queries",
    "Shape": "isdp.subspace.factorisation",
    "base_decomposition": "isdp.subspace.factorisation",
    "basis_sensitivity": "isdp.subspace.sensitivities",
    "consistency": "isdp.subspace.held",
    "contrasts": "isdp.subspace.bases",
    "differences": "isdp.subspace.neighbours",
    "kronecker_basis": "isdp.subspace.bases",
    "least_trace": "isdp.subspace.factorisation",
    "null_basis": "isdp.subspace.bases",
    "null_sensitivity": "isdp.subspace.sensitivities",
    "null_space": "isdp.subspace.nullspace",
    "quotient_sensitivity": "isdp.subspace.sensitivities",
    "rational": "isdp.subspace.held",
    "root_polytope_noise": "isdp.subspace.knorm",
    "sensitivity": "isdp.subspace.sensitivities",
    "spherical": "isdp.subspace.factorisation",
    "together": "isdp.subspace.held",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = when_first_used(__name__, _HOMES)
