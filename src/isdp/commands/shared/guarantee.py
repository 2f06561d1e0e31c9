"""The privacy guarantee of a request under the held totals, per unit of distance and per person."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from isdp.accounting.guarantees import Number, PrivacyGuarantee, upper_product
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.noise_levels import Flavour, TableLevels, describe_levels
from isdp.commands.shared.request import NoiseRequest, units_of_distance
from isdp.commands.shared.table import Table
from isdp.errors import InputError
from isdp.lattice.connected_totals import MoveDistance
from isdp.lattice.distances import farthest_move, nearest_move
from isdp.lattice.shortest_vectors import Metric
from isdp.mechanisms.crossing import EXCHANGE
from isdp.mechanisms.nested import NestedGaussian, NestedLaplace

# cached, because a command needs the distances several times
_nearest_move = lru_cache(maxsize=4)(nearest_move)
_farthest_move = lru_cache(maxsize=4)(farthest_move)
NO_SINGLE_MOVE = "no two cells have the same totals, so one person cannot change cell alone"
DETERMINED = "the totals determine every cell, so one person cannot change cell"


class MoveLosses(NamedTuple):
    """Bounds on the privacy loss of the cell of one person.

    Attributes
    ----------
    nearest : int, float or Fraction
        The loss between the nearest two tables that differ in the cell of one person.
    alone : int, float or Fraction
        The largest loss if one person changes cell and no other person does. It equals `nearest` if
        no person can change cell alone.
    farthest : int, float, Fraction or None
        The largest loss between any two cells, or None if it is unknown.
    """

    nearest: Number
    alone: Number
    farthest: Number | None


def request_for_table(request: NoiseRequest, free: DegreesOfFreedom, table: Table) -> NoiseRequest:
    """Return the request with its mechanism for one table under the held totals.

    The budget of noise with levels remains a budget per person. Any other budget is converted into
    a budget per unit of distance.
    """
    request = with_budget(request, free, table)
    if request.levels is not None:
        levels = TableLevels(request.levels, table)
        flavour: Flavour = "zCDP" if request.epsilon is None else "pure"
        budget = Fraction((request.rho if request.epsilon is None else request.epsilon) or 0)
        return replace(request, set_mechanism=levels.mechanism(free.invariants, flavour, budget))
    if request.per == "unit":
        return request
    distance = person_distance(free, metric_of(request))
    if distance is None or distance.upper is None:
        raise InputError(
            "--invariants: no bound on the distance under these totals is known. Give the budget "
            "per unit of distance with --per-unit (in Python per='unit')."
        )
    return request.per_unit(distance.upper)


def with_budget(request: NoiseRequest, free: DegreesOfFreedom, table: Table) -> NoiseRequest:
    """Replace the target errors of a request, if there are any, by the budget that meets them."""
    if request.levels is None or not request.levels.errors:
        return request
    rho, shares = TableLevels(request.levels, table).budget_for_errors(free.invariants)
    return replace(request, rho=rho, levels=replace(request.levels, errors={}, shares=shares))


def privacy_guarantee(request: NoiseRequest, free: DegreesOfFreedom) -> PrivacyGuarantee:
    """Return the guarantee of a request for a table, with epsilon or rho as an exact number.

    Returns
    -------
    PrivacyGuarantee
        The loss per person is computed at the smallest distance that these totals force. If only
        bounds on this distance are known, the upper bound is used.
    """
    if request.set_mechanism is not None:
        return request.set_mechanism.guarantee_of(free.invariants)
    exact = request.epsilon if request.rho is None else request.rho
    guarantee = replace(request.mechanism.guarantee, loss=Fraction(exact or 0))
    distance = person_distance(free, metric_of(request))
    if distance is None or distance.upper is None:
        return replace(guarantee, per_person=None, why_not_per_person=DETERMINED)
    return replace(guarantee, per_person=units_of_distance(request.norm, distance.upper))


def levels_of(request: NoiseRequest, free: DegreesOfFreedom) -> dict[str, object] | None:
    """Describe the levels of a request for a table, or return None if it has none."""
    if request.levels is None or request.set_mechanism is None:
        return None
    return describe_levels(request.levels, request.set_mechanism, free.invariants)


def metric_of(request: NoiseRequest) -> Metric:
    """Return the metric in which the budget of a request is converted."""
    return "l1" if request.rho is None and request.norm != "l2" else "squared l2"


def metric_of_guarantee(guarantee: PrivacyGuarantee) -> Metric:
    """Return the metric whose unit is that of a loss per unit of distance."""
    return "l1" if guarantee.metric == "l1" else "squared l2"


def person_distance(free: DegreesOfFreedom, metric: Metric = "l1") -> MoveDistance | None:
    """Find the smallest distance between two tables that differ in the cell of one person.

    The distance is 2 if one person can move between two cells with the same totals. If no person
    can change cell, it is 1 for a person who enters or leaves a cell without a total. Otherwise
    other people have to move too, as in `isdp.lattice.nearest_move`.

    Returns
    -------
    MoveDistance or None
        A distance with an upper bound, or None if the totals determine every cell.
    """
    if free.degrees == 0:
        return None
    found = _nearest_move(free.invariants, metric)
    if found is None and free.single_change:
        return MoveDistance(1, 1, {}, "a cell has no total")
    return found


def farthest_distance(free: DegreesOfFreedom, metric: Metric = "l1") -> MoveDistance | None:
    """Find the largest distance of a move between two cells that is possible for one person.

    Returns
    -------
    MoveDistance or None
        The distance may have no upper bound. None means that no person can change cell.
    """
    return _farthest_move(free.invariants, metric)


def loss_of_distance(guarantee: PrivacyGuarantee, distance: int) -> Number:
    """Return an upper bound on the loss of noise without levels at an l1 or squared l2 distance."""
    norm = guarantee.metric if guarantee.growth == "linear" else None
    return upper_product(guarantee.loss, units_of_distance(norm, distance))


def move_losses(
    request: NoiseRequest, guarantee: PrivacyGuarantee, free: DegreesOfFreedom, size_held: bool
) -> MoveLosses | None:
    """Return bounds on the losses of the moves of one person, or None if no loss is known.

    The difference of two tables at an l1 distance d is a sum of moves, arrivals and departures of
    single persons. If the number of people is held, their number is at most d / 2, rounded up.
    Otherwise it is at most d. Under disjoint totals, the changes in two totals are in different
    sets of a nested family, so that their losses add up.
    """
    if guarantee.loss_per_person is None:
        return None
    mechanism = request.set_mechanism
    if mechanism is None:
        nearest, largest = guarantee.loss_per_person, None
        farthest = farthest_distance(free, metric_of_guarantee(guarantee))
        if farthest is not None and farthest.upper is not None:
            largest = loss_of_distance(guarantee, farthest.upper)
        return MoveLosses(nearest, nearest, largest)
    alone = guarantee.loss_per_person
    nearest = min(mechanism.losses_by_level(free.invariants).values(), default=alone)
    distance = farthest_distance(free)
    if distance is None or distance.upper is None:
        return MoveLosses(nearest, alone, None)
    if distance.upper == 2:
        return MoveLosses(nearest, alone, alone)
    changes = -(-distance.upper // 2) if size_held else distance.upper
    if isinstance(mechanism, NestedGaussian | NestedLaplace) and free.blocks is not None:
        return MoveLosses(nearest, alone, upper_product(alone, changes))
    together = guarantee.growth == "none" or guarantee.relation == EXCHANGE
    bound = mechanism.guarantee if together else guarantee
    return MoveLosses(nearest, alone, max(alone, bound.loss_at(changes)))


def describe_distances(free: DegreesOfFreedom, metric: Metric) -> str:
    """Describe the distances if one person changes cell and no total changes."""
    name = "distance" if metric == "l1" else "squared distance"
    nearest = person_distance(free, metric)
    if nearest is None or nearest.upper is None:
        return DETERMINED
    if free.single_move:
        words = f"one person who changes between cells with the same totals is a {name} of 2"
    else:
        words = NO_SINGLE_MOVE
        if nearest.upper > 1:
            words += (
                f": others have to change too, and the nearest tables are at a {name} of "
                f"{_quantity(nearest)}"
            )
    farthest = farthest_distance(free, metric)
    if farthest is not None and farthest.upper != nearest.upper:
        words += f"; the largest {name} between two cells is {_quantity(farthest)}"
    if free.single_change:
        words += f"; one person more or fewer in a cell without a total is a {name} of 1"
    return words


def _quantity(distance: MoveDistance) -> str:
    if distance.upper is None:
        return f"at least {distance.lower}, and has no known bound"
    return f"at most {distance.upper}" if distance.value is None else str(distance.value)
