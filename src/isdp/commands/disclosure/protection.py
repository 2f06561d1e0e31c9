"""Sentences about the protection of a privacy guarantee, and about facts that totals reveal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isdp.accounting.guarantees import COUNTED, PrivacyGuarantee, upper_decimal
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.guarantee import (
    MoveLosses,
    farthest_distance,
    loss_of_distance,
    metric_of_guarantee,
    person_distance,
)
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.io.certificate import NO_GUARANTEE_IN_SHORT
from isdp.io.wording import listed
from isdp.lattice import MoveDistance
from isdp.mechanisms.generalized_laplace import NORMS


@dataclass(frozen=True)
class ProtectionFacts:
    """Facts about the exact totals of a release, from which the sentences are generated.

    Attributes
    ----------
    learned : str
        The facts on one person that the totals give to a reader who knows all other people, such as
        "the county and the sex".
    size_held : bool
        True if the number of people follows from the totals.
    arrival : bool
        True if a cell has no total, so that one person can be added or removed.
    nearest, farthest : MoveDistance, optional
        Distances of moves of one person, if the loss is per unit of distance.
    losses : MoveLosses, optional
        The losses of the moves of one person, if the loss is per person.
    """

    learned: str
    size_held: bool
    arrival: bool = False
    nearest: MoveDistance | None = None
    farthest: MoveDistance | None = None
    losses: MoveLosses | None = None


def facts_of_totals(
    guarantee: PrivacyGuarantee, free: DegreesOfFreedom, held: Sequence[HeldTotals]
) -> ProtectionFacts:
    """Collect the facts about the held totals of a table."""
    nearest = farthest = None
    if guarantee.metric in NORMS:
        metric = metric_of_guarantee(guarantee)
        nearest, farthest = person_distance(free, metric), farthest_distance(free, metric)
    return ProtectionFacts(
        learned="the cell" if not free.single_move else _learned(held),
        size_held=any(int(one.labels.min()) >= 0 for one in held),
        arrival=free.single_change,
        nearest=nearest,
        farthest=farthest,
    )


def _learned(held: Sequence[HeldTotals]) -> str:
    columns = dict.fromkeys(column for one in held for column in one.columns)
    known = [f"the {column}" for column in columns]
    subsets = [one.name for one in held if not one.columns and int(one.labels.min()) < 0]
    known += [f"the membership in {name}" for name in subsets]
    return listed(known) if known else "the presence"


def protection_sentences(
    guarantee: PrivacyGuarantee, facts: ProtectionFacts | None = None, for_release: bool = True
) -> list[str]:
    """State the protection that the loss gives, and the facts that are not protected.

    Parameters
    ----------
    facts : ProtectionFacts, optional
        The facts about the exact totals, if they are known.
    for_release : bool
        False if no guarantee holds, because the table is for experiments.
    """
    unit = "record" if guarantee.metric not in (*NORMS, *COUNTED) else "person"
    others = "people" if unit == "person" else "records"
    name = guarantee.parameter
    sentences = [] if for_release else [NO_GUARANTEE_IN_SHORT]
    if facts is not None and for_release:
        sentences += _of_distances(guarantee, facts) + _of_losses(guarantee, facts.losses)
    sentences.append(
        f"The exact totals are not protected, and {name} does not count what they reveal."
    )
    if facts is None:
        return [
            *sentences,
            f"A reader who knows all other {others} learns from the exact totals of all releases "
            f"what they say of the last {unit}, whatever {name} is.",
        ]
    if facts.size_held:
        sentences.append(
            f"The presence of a {unit} is not protected, because the exact totals give the number "
            f"of {others}."
        )
    elif facts.arrival and for_release and guarantee.metric in NORMS:
        loss = upper_decimal(loss_of_distance(guarantee, 1))
        sentences.append(
            f"The presence of a person in a cell without a total is protected: {name} is at most "
            f"{loss}."
        )
    sentences.append(
        f"A reader who knows all other {others} learns {facts.learned} of the last {unit} from the "
        f"exact totals, whatever {name} is."
    )
    return sentences


def _of_distances(guarantee: PrivacyGuarantee, facts: ProtectionFacts) -> list[str]:
    nearest, farthest = facts.nearest, facts.farthest
    if nearest is None or nearest.upper is None:
        return []
    name = guarantee.parameter
    metric = "an l1" if metric_of_guarantee(guarantee) == "l1" else "a squared l2"
    near = upper_decimal(loss_of_distance(guarantee, nearest.upper))
    bound = "" if nearest.value is not None else "at most "
    sentences = [
        f"The nearest two tables that agree in the exact totals and differ in the cell of one "
        f"person have {metric} distance of {bound}{nearest.upper}: {name} is at most {near}."
    ]
    if nearest.upper > 2:
        sentences[0] = sentences[0][:-1] + ", and other people have to change cell too."
    if farthest is None:
        return sentences
    if farthest.upper is None:
        sentences.append(
            f"For other pairs of cells the distance is larger, up to {farthest.lower} or more: no "
            f"bound is known, and {name} grows with the distance."
        )
    elif farthest.upper > nearest.upper:
        far = upper_decimal(loss_of_distance(guarantee, farthest.upper))
        bound = "" if farthest.value is not None else "at most "
        sentences.append(
            f"The largest distance between two cells of one person is {bound}{farthest.upper}, "
            f"where more people have to change cell: {name} is at most {far}."
        )
    return sentences


def _of_losses(guarantee: PrivacyGuarantee, losses: MoveLosses | None) -> list[str]:
    if losses is None:
        return []
    name = guarantee.parameter
    sentences = [
        f"Between the nearest two tables that agree in the exact totals and differ in the cell of "
        f"one person, {name} is at most {upper_decimal(losses.nearest)}."
    ]
    if losses.alone > losses.nearest:
        sentences.append(
            f"If one person changes between any two cells and no other person does, {name} is at "
            f"most {upper_decimal(losses.alone)}."
        )
    if losses.farthest is None:
        sentences.append(f"For other pairs of cells, no bound of {name} is known.")
    elif losses.farthest > losses.alone:
        sentences.append(
            f"For other pairs of cells, more people have to change cell: {name} is at most "
            f"{upper_decimal(losses.farthest)}."
        )
    return sentences
