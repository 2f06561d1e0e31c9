"""What the law asked for promises under the totals held: to whom, and at which distances."""

from __future__ import annotations

from dataclasses import replace

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.request import NoiseRequest

NO_SINGLE_MOVE = "no two cells stand in the same totals, so that nobody can change cell alone"


def privacy_guarantee(request: NoiseRequest, free: DegreesOfFreedom) -> PrivacyGuarantee:
    """Give the guarantee of the law, with epsilon or rho as it was written.

    Returns
    -------
    PrivacyGuarantee
        Without a figure per person where the totals let nobody change cell alone.
    """
    exact = request.epsilon if request.rho is None else request.rho
    guarantee = replace(request.mechanism.guarantee, loss=exact)
    if free.single_move:
        return guarantee
    return replace(guarantee, per_person=None, why_not_per_person=NO_SINGLE_MOVE)


def distances(free: DegreesOfFreedom, squared: bool) -> str:
    """Say how far apart tables with equal totals are that differ in one person, or in few.

    Parameters
    ----------
    squared : bool
        Whether distances are those of l2, squared, and not of l1.
    """
    distance = "squared distance" if squared else "distance"
    if not free.single_move:
        words = NO_SINGLE_MOVE
        if free.blocks is None:
            words += (
                f": several people have to change at once; under both margins of a two-way table "
                f"the nearest tables are at a {distance} of 4, under other totals that overlap "
                f"perhaps at another one"
            )
    elif free.blocks is None:
        words = (
            f"one person who changes between cells that stand in the same totals is a {distance} "
            f"of 2; any other change of cell takes several people at once, and may be farther"
        )
    else:
        words = (
            f"one person who changes cell and leaves all totals as they are is a {distance} of 2"
        )
    if free.single_change:
        words += (
            f"; one person more or fewer in a cell that stands in no total is a {distance} of 1"
        )
    return words
