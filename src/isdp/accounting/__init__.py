"""Privacy guarantees, their composition and their conversion.

Every function raises `InputError` for a number that is out of range.
"""

from isdp.accounting.composition import as_zcdp, compose
from isdp.accounting.conversions import convert
from isdp.accounting.guarantees import (
    PrivacyGuarantee,
    as_fraction,
    guarantee_from_record,
    upper_decimal,
)

__all__ = [
    "PrivacyGuarantee",
    "as_fraction",
    "as_zcdp",
    "compose",
    "convert",
    "guarantee_from_record",
    "upper_decimal",
]
