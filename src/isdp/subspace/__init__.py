"""Subspace differential privacy: real-valued noise that keeps invariants of the answers exact.

The package follows *Subspace Differential Privacy* (Gao, Gong, Yu; AAAI 2022, arXiv 2108.11527),
which the docstrings call SDP. The package contains queries, and projected, extended, correlated and
K-norm mechanisms. Each mechanism computes its covariance, its error and its privacy guarantee.
`isdp.subspace.accuracy` has lower bounds on the error of all additive mechanisms. The noise is
continuous and uses floating-point arithmetic. Use it for studies, and draw noise for release with
`isdp.exact`. Every function raises `InputError` for arguments that are out of range or do not fit
each other.

Examples
--------
>>> import numpy as np
>>> from isdp import Invariants, subspace
>>> query, held = subspace.Query.hierarchy((4, 4)), Invariants.subsets([[0]], 21)
>>> round(subspace.KNorm(query, held, epsilon=1.0).error, 3)
196.941
"""

from isdp.subspace.bases import contrasts, difference_basis, kronecker_basis, null_basis
from isdp.subspace.mechanisms.correlated_shapes import (
    CovarianceShape,
    base_decomposition,
    min_trace_shape,
    spherical_shape,
)
from isdp.subspace.mechanisms.gaussian import (
    CorrelatedGaussian,
    ExtendedGaussian,
    ProjectedGaussian,
)
from isdp.subspace.mechanisms.k_norm import KNorm, draw_root_polytope_noise
from isdp.subspace.mechanisms.laplace import ExtendedLaplace, ProjectedLaplace
from isdp.subspace.null_space import NullSpace, null_space
from isdp.subspace.privacy.neighbours import differences
from isdp.subspace.privacy.sensitivities import (
    basis_sensitivity,
    null_sensitivity,
    quotient_sensitivity,
    sensitivity,
)
from isdp.subspace.queries import Query

__all__ = [
    "CorrelatedGaussian",
    "CovarianceShape",
    "ExtendedGaussian",
    "ExtendedLaplace",
    "KNorm",
    "NullSpace",
    "ProjectedGaussian",
    "ProjectedLaplace",
    "Query",
    "base_decomposition",
    "basis_sensitivity",
    "contrasts",
    "difference_basis",
    "differences",
    "draw_root_polytope_noise",
    "kronecker_basis",
    "min_trace_shape",
    "null_basis",
    "null_sensitivity",
    "null_space",
    "quotient_sensitivity",
    "sensitivity",
    "spherical_shape",
]
