"""The published privacy bound of permutation swapping, and its inverse.

Let o = p / (1 - p) be the odds of the swap rate p. Let b be the number of records of the largest
stratum. The bound is

    epsilon = ln(b + 1) - ln o                    for p <= 1/2,
    epsilon = max(ln o, ln(b + 1) - ln o)         for p > 1/2.

Epsilon bounds the privacy loss per unit of the distance d_HAM of datasets with equal invariants.
The distance d_HAM is half the number of records that two datasets do not share. Datasets at the
smallest distance differ by an exchange of two values. This distance is 2, and the loss is at most 2
epsilon.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from isdp.accounting.guarantees import PrivacyGuarantee, as_fraction
from isdp.checks import check_in_range, check_integer, check_positive
from isdp.errors import InputError
from isdp.swapping.mechanism.permutation import check_rate

ROUNDING = 1e-12  # bound on the relative rounding error of a difference of two logarithms
MAX_EPSILON = 700  # maximum epsilon; the odds of a larger epsilon overflow
MIN_FULL_PRECISION = 1e-290  # minimum odds; smaller floats lose digits


@dataclass(frozen=True)
class Rate:
    """A swap rate, stored as its odds so that rates near 1 keep all digits.

    Attributes
    ----------
    odds : float
        The odds o = p / (1 - p).
    """

    odds: float

    def __post_init__(self) -> None:
        check_positive("swapping: the odds of a swap rate", self.odds)

    @property
    def selected(self) -> float:
        """The swap rate p, which rounds to 1 for odds above about 1e16."""
        return self.odds / (1 + self.odds)


def log_odds(rate: Fraction | float | Rate) -> float:
    """Compute the logarithm of the odds of a swap rate.

    A float is read as its shortest decimal form.
    """
    if isinstance(rate, Rate):
        return math.log(rate.odds)
    check_rate(rate)
    exact = as_fraction(rate)
    odds = exact / (1 - exact)
    if odds > MIN_FULL_PRECISION:
        return math.log(odds)
    return math.log(odds.numerator) - math.log(odds.denominator)


def epsilon_bound(rate: Fraction | float | Rate, max_size: int) -> float:
    """Compute the published bound, in nats per unit of d_HAM.

    The largest stratum has `max_size` records. The bound is 0 if no stratum has two records,
    because no record moves.
    """
    size, odds = check_size(max_size), log_odds(rate)
    return 0.0 if size <= 1 else max(odds, math.log1p(size) - odds)


def guarantee_of(rate: Fraction | float | Rate, max_size: int) -> PrivacyGuarantee:
    """Return the privacy guarantee of one swap by the published bound, rounded up.

    The largest stratum has `max_size` records.
    """
    bound = epsilon_bound(rate, max_size)
    return PrivacyGuarantee(
        flavour="pure",
        loss=bound + ROUNDING * (1 + bound),
        metric="record (d_HAM)",
        per_person=None,
        source="Bailie, Gong and Meng 2023, permutation swapping",
        relation="two sets of records with equal totals",
        held="the totals of the held columns, and of the swap key by the swapped columns",
        why_not_per_person="a record need not be a person, and under these totals no record can "
        "change alone",
    )


def min_epsilon(max_size: int) -> tuple[float, Rate]:
    """Return the minimum of the bound over all swap rates, and the rate that attains it.

    The largest stratum has b = `max_size` records, at least 2. The minimum is (1/2) ln(b + 1), and
    the odds of this rate are sqrt(b + 1).
    """
    size = check_size(max_size, 2)
    return math.log1p(size) / 2, Rate(math.sqrt(size + 1))


def rates_with_epsilon(epsilon: float, max_size: int) -> tuple[Rate, Rate]:
    """Compute the two swap rates whose bound is epsilon.

    The largest stratum has b = `max_size` records, at least 2. The rates have the odds (b + 1)
    e^(-epsilon) and e^epsilon. The first rate moves fewer records. At the minimum epsilon they are
    equal. Raise `InputError` if epsilon is below the minimum or above 700.
    """
    minimum, _ = min_epsilon(max_size)
    check_in_range("swapping: epsilon", epsilon, 0, MAX_EPSILON)
    if epsilon < minimum:
        raise InputError(
            f"swapping: epsilon: no swap rate gives {epsilon:g} with a stratum of {max_size:,} "
            f"records. Use at least {math.ceil(minimum * 1e6) / 1e6:.6f}."
        )
    return Rate(math.exp(math.log1p(max_size) - epsilon)), Rate(math.exp(epsilon))


def check_size(size: object, minimum: int = 1) -> int:
    """Return the number of records of a stratum as an int."""
    return check_integer("swapping", "the number of records of a stratum", size, minimum)
