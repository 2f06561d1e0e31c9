"""Privacy guarantees, their composition and their conversion.

Every function raises `InputError` for a number that is out of range.
"""

from typing import TYPE_CHECKING

from isdp.accounting.composition import as_zcdp, compose
from isdp.accounting.guarantees import (
    PrivacyGuarantee,
    as_fraction,
    guarantee_from_record,
    upper_decimal,
)
from isdp.removed_names import refuse_renamed

__all__ = [
    "PrivacyGuarantee",
    "as_fraction",
    "as_zcdp",
    "compose",
    "guarantee_from_record",
    "upper_decimal",
]

if not TYPE_CHECKING:  # a type checker that saw it would accept any name
    __getattr__ = refuse_renamed(__name__)
