"""Composition of the guarantees of several releases of the same data."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from isdp.accounting.guarantees import PrivacyGuarantee, upper_product, upper_sum
from isdp.errors import InputError

# fields in which guarantees must agree, and their names in messages
MATCHED_FIELDS = {
    "flavour": "the kind of privacy loss",
    "metric": "the unit of distance",
    "growth": "the growth of the loss with the distance",
    "relation": "the pairs of tables that are compared",
    "held": "the published totals",
}


def compose(guarantees: Sequence[PrivacyGuarantee]) -> PrivacyGuarantee:
    """Add the losses and deltas of several releases.

    The guarantees must agree in flavour, metric, growth, relation and held totals. The result has
    the maximum of `per_person`. If all losses are per person and the growth of one guarantee is
    "none", the growth of the result is "none".

    Raises
    ------
    InputError
        If there is no guarantee, two guarantees disagree, or the deltas sum to 1 or more. The
        message names the field in which they disagree.
    """
    if not guarantees:
        raise InputError("composition: there are no guarantees. Give one or more guarantees")
    each_person = all((g.metric, g.per_person) == ("person", 1) for g in guarantees)
    if each_person and any(g.growth == "none" for g in guarantees):
        guarantees = [replace(g, growth="none") for g in guarantees]
    first = guarantees[0]
    for other in guarantees[1:]:
        for name, words in MATCHED_FIELDS.items():
            if getattr(first, name) != getattr(other, name):
                raise InputError(
                    f"composition: {name} ({words}) is {getattr(first, name)!r:.80} in one "
                    f"guarantee and {getattr(other, name)!r:.80} in another. Compose guarantees in "
                    f"which it is equal"
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
    """Convert a guarantee of epsilon-differential privacy to (epsilon^2 / 2)-zCDP.

    The source is Bun and Steinke, *Concentrated Differential Privacy* (2016), Proposition 1.4. At
    distance d, the bound on rho is (epsilon d)^2 / 2.

    Raises
    ------
    InputError
        If the flavour is not "pure", or the growth is "quadratic".
    """
    if guarantee.flavour != "pure" or guarantee.growth == "quadratic":
        raise InputError(
            "composition: the guarantee is not pure, or its growth is quadratic. Give a pure "
            "guarantee with linear growth"
        )
    half = upper_product(guarantee.loss, guarantee.loss, Fraction(1, 2))
    source = f"{guarantee.source}, as zCDP"
    same = replace(guarantee, flavour="zCDP", loss=half, source=source)
    if guarantee.growth == "none":
        return same
    person = guarantee.per_person
    squared = None if person is None else upper_product(person, person)
    return replace(same, growth="quadratic", per_person=squared)
