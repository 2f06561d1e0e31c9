"""Privacy guarantees as values, their composition, and conversions by name.

A mechanism has a `PrivacyGuarantee`. `conversions` turns rho-zCDP into (epsilon,
delta), `composed` gives the exact delta of many Laplace measurements, `preference` tells which of
Laplace and Gaussian noise is smaller. Every function raises `InputError` for a number that is out
of range.
"""

from typing import TYPE_CHECKING

from isdp.accounting.composition import as_zcdp, compose
from isdp.accounting.guarantees import (
    PrivacyGuarantee,
    as_fraction,
    guarantee_from_record,
    upper_decimal,
)
from isdp.renamed import refuse_renamed

__all__ = [
    "PrivacyGuarantee",
    "as_fraction",
    "as_zcdp",
    "compose",
    "guarantee_from_record",
    "upper_decimal",
]

if not TYPE_CHECKING:  # a type checker takes any name for granted otherwise
    __getattr__ = refuse_renamed(__name__)
