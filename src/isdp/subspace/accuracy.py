"""Lower bounds on the error of every additive mechanism.

Consider noise that does not depend on the data and protects a difference v between the answers of
neighbouring data sets. The variance of the noise along v is at least g |v|^2, where g depends only
on the guarantee. The covariance S therefore dominates g v v' for every v, and the total squared
error is at least g Gamma^2. Here Gamma^2 is the trace of the shape that
`isdp.subspace.mechanisms.correlated_shapes.min_trace_shape` computes.
"""

import math

from isdp.checks import check_positive_float, check_probability


def min_variance_pure(epsilon: float) -> float:
    """Compute g = 2a / (1 - a)^2 for epsilon-differential privacy, where a = exp(-epsilon).

    Divide the line along v into intervals of length |v|. The ratio of the probabilities of adjacent
    intervals is between a and 1/a. The discrete Laplace distribution has the minimum variance under
    this condition.
    """
    check_positive_float("subspace: epsilon", epsilon)
    return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


def min_variance_approximate(epsilon: float, delta: float) -> float:
    """Compute g = (1/t^2 - 1) / 12 for (epsilon, delta)-differential privacy.

    In units of |v|, no interval of length 1 has a probability above t = (e^epsilon - 1 + 2 delta) /
    (e^epsilon + 1). The sum of the noise and an independent uniform variable on such an interval
    therefore has a density of at most t. The variance of the sum is at least 1/(12 t^2), to which
    the uniform variable contributes 1/12.
    """
    check_probability("subspace: delta", delta)
    grown = math.expm1(check_positive_float("subspace: epsilon", epsilon))
    max_probability = (grown + 2 * delta) / (grown + 2)
    return (max_probability**-2 - 1) / 12
