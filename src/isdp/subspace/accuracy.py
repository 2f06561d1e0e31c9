"""Lower bounds on the error of every additive mechanism.

Consider noise that does not depend on the data and is private for a difference v. The variance of
its component along v is at least g |v|^2, where g depends on the guarantee alone. The covariance S
therefore dominates g v v' for every v, and the total squared error is at least g Gamma^2. Here
Gamma^2 is the minimum trace of `isdp.subspace.mechanisms.correlated_shapes.min_trace_shape`.
"""

from __future__ import annotations

import math

from isdp.checks import check_positive_float, check_probability


def min_variance_pure(epsilon: float) -> float:
    """Compute g = 2a / (1 - a)^2 with a = exp(-epsilon), for epsilon-DP.

    Divide the line along v into intervals of length |v|. Between neighbouring intervals the
    probability falls by at most the factor a. The two-sided geometric distribution has the least
    variance under this condition.
    """
    check_positive_float("subspace: epsilon", epsilon)
    return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


def min_variance_approximate(epsilon: float, delta: float) -> float:
    """Compute g = (1/t^2 - 1) / 12 with t = (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).

    No interval of length |v| has a probability above t. The noise plus an independent uniform
    variable of that length therefore has a density of at most t, and a variance of at least
    1/(12 t^2). The uniform variable contributes 1/12 of it.
    """
    check_probability("subspace: delta", delta)
    grown = math.expm1(check_positive_float("subspace: epsilon", epsilon))
    max_probability = (grown + 2 * delta) / (grown + 2)
    return (max_probability**-2 - 1) / 12
