"""Composition of the guarantees of several releases of the same data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from isdp.accounting.guarantees import PrivacyGuarantee, upper_product, upper_sum
from isdp.errors import InputError

MATCHED_FIELDS = ("flavour", "metric", "growth", "relation", "held")


def compose(guarantees: Sequence[PrivacyGuarantee]) -> PrivacyGuarantee:
    """Guarantee of all the releases together, by adding losses and deltas.

    The guarantees must agree in flavour, metric, growth, relation and held totals. The distance
    per person may differ, as a person may be counted in two tables; the largest is kept.

    Raises
    ------
    InputError
        If there is none, if two are not of one kind (naming in what they differ), or if their
        deltas add up to 1 or more.
    """
    if not guarantees:
        raise InputError("composition: there is nothing to compose")
    first = guarantees[0]
    for other in guarantees[1:]:
        for name in MATCHED_FIELDS:
            if getattr(first, name) != getattr(other, name):
                raise InputError(
                    f"composition: guarantees of different {name} do not add up: "
                    f"{getattr(first, name)!r} and {getattr(other, name)!r}"
                )
    persons = [g.per_person for g in guarantees if g.per_person is not None]
    reasons = [g.why_not_per_person for g in guarantees if g.why_not_per_person]
    return replace(
        first,
        loss=upper_sum(*(guarantee.loss for guarantee in guarantees)),
        delta=upper_sum(*(guarantee.delta for guarantee in guarantees)),
        per_person=None if reasons else max(persons),
        why_not_per_person=reasons[0] if reasons else "",
        source="; ".join(dict.fromkeys(guarantee.source for guarantee in guarantees)),
    )


def as_zcdp(guarantee: PrivacyGuarantee) -> PrivacyGuarantee:
    """Convert a pure guarantee to zCDP: epsilon-DP implies (epsilon^2 / 2)-zCDP.

    Bun and Steinke (2016), Proposition 1.4. The bound at distance d becomes (epsilon d)^2 / 2, so
    it grows with the square.

    Raises
    ------
    InputError
        If the guarantee is not a pure one.
    """
    if guarantee.flavour != "pure" or guarantee.growth == "quadratic":
        raise InputError(
            "composition: only a pure guarantee of linear growth can be converted to zCDP"
        )
    half = upper_product(guarantee.loss, guarantee.loss, Fraction(1, 2))
    source = f"{guarantee.source}, as zCDP"
    same = replace(guarantee, flavour="zCDP", loss=half, source=source)
    if guarantee.growth == "none":
        return same
    person = guarantee.per_person
    squared = None if person is None else upper_product(person, person)
    return replace(same, growth="quadratic", per_person=squared)
