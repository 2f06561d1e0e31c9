"""What a release costs: guarantees as values, their composition, and conversions by name.

`Guarantee` is the value that a mechanism hands out. `conversions` turns rho-zCDP into (epsilon,
delta), `composed` gives the exact delta of many Laplace measurements, `preference` tells which of
Laplace and Gaussian noise is smaller. Every function raises `InputError` for a number that is out
of range.
"""

from isdp.accounting.composition import as_zcdp, compose
from isdp.accounting.guarantees import Guarantee, as_fraction, from_record, upper

__all__ = ["Guarantee", "as_fraction", "as_zcdp", "compose", "from_record", "upper"]
