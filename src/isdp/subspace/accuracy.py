"""Lower bounds on the error of every additive mechanism, so that "near optimal" is a number.

Noise that does not depend on the data and is private for a difference v spreads along it by at
least g in units of |v|, where g hangs on the guarantee alone. So its covariance S exceeds g v v'
for every v, and the error is at least g Gamma^2, with Gamma^2 the least trace of
`isdp.subspace.mechanisms.correlated_shapes`.
"""

from __future__ import annotations

import math

from isdp.checks import check_positive_float, check_probability


def min_variance_pure(epsilon: float) -> float:
    """Give g = 2a / (1 - a)^2 with a = exp(-epsilon), for epsilon-privacy.

    The noise along v, cut into intervals of length |v|, has probabilities that fall by at most a
    factor a from one to the next on either side; the two-sided geometric law, which spreads
    least, has this second moment.
    """
    return (
        2
        * math.exp(-check_positive_float("subspace: epsilon", epsilon))
        / math.expm1(-epsilon) ** 2
    )


def min_variance_approximate(epsilon: float, delta: float) -> float:
    """Give g = (1/t^2 - 1) / 12 with t = (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).

    No interval as long as the shift holds more than t of the probability. So the sum of the noise
    and a uniform number of that length has a density of at most t, and hence a variance of at
    least 1/(12 t^2), of which the uniform number takes 1/12.
    """
    check_probability("subspace: delta", delta)
    grown = math.expm1(check_positive_float("subspace: epsilon", epsilon))
    most = (grown + 2 * delta) / (grown + 2)
    return (most**-2 - 1) / 12


def min_variance_zcdp(rho: float) -> float:
    """Give g = 1 / (exp(2 rho) - 1), for rho-zCDP, by the bound of Hammersley and Chapman.

    zCDP bounds the divergence of order 2 by 2 rho, so the chi-square one by exp(2 rho) - 1.
    """
    return 1 / math.expm1(2 * check_positive_float("subspace: rho", rho))
