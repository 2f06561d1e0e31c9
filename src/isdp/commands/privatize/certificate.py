"""The content of the certificate of a noisy table.

The certificate consists of facts about the noise distribution, the settings and the noisy table. No
fact is computed from the noise drawn or from the confidential counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from isdp.accounting.conversions import epsilon_above, max_loss
from isdp.accounting.guarantees import PrivacyGuarantee, upper_decimal, upper_product
from isdp.commands.disclosure.protection import facts_of_totals, protection_sentences
from isdp.commands.disclosure.totals_audit import TotalsAudit
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.guarantee import (
    describe_distances,
    levels_of,
    move_losses,
    privacy_guarantee,
)
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.margins import Margin, probability_unchanged
from isdp.commands.shared.noise import SamplerReport
from isdp.commands.shared.opening import (
    CONVERSION,
    exact_totals,
    noise_of_margins,
    opening,
    protection,
)
from isdp.commands.shared.request import DELTA, NoiseRequest
from isdp.commands.shared.table import Table
from isdp.commands.shared.warnings import list_revealed_residues
from isdp.io.certificate import FOR_RELEASE, FORMAT, NO_GUARANTEE, NOT_FOR_RELEASE, SEED_KNOWN
from isdp.io.versions import versions

MAX_LISTED = 10
NOT_SAID = (
    "The guarantee compares tables that agree in all totals held here. These totals are published "
    "exactly, and no guarantee covers what they reveal: true counts are not negative, so that a "
    "total of 0 shows that all of its cells are 0, and a small total bounds its cells.",
    "Each further release of the same data adds its epsilon (or rho), and then only for tables "
    "that agree in the totals of both releases. The totals of all releases are published, and "
    "together they may determine cells that no single certificate lists.",
    "The rows, their order, and all columns except the counts are published unchanged. They reveal "
    "counts if empty cells have no row, or if the rows are sorted by their counts.",
    "Negative counts of the noisy table are not changed. Setting them to zero would break their "
    "totals and bias the other counts.",
    "No checksum of the confidential table is given, because it would confirm guesses. Nothing "
    "computed from the noise is given, because the noise and the noisy table together reveal the "
    "confidential table.",
    "The time of the computation and the memory of the machine are outside the guarantee.",
)


def describe(
    *,
    table: Table,
    rules: tuple[str, str],
    checks: list[dict[str, Any]],
    free: DegreesOfFreedom,
    held: Sequence[HeldTotals],
    stated: NoiseRequest,
    request: NoiseRequest,
    report: SamplerReport,
    margins: Sequence[Margin],
    audit: TotalsAudit,
    negative: int,
    started: str,
    accepted: tuple[str, ...],
) -> dict[str, Any]:
    """Return the certificate for JSON, without the hash of the noisy table.

    Parameters
    ----------
    table : Table
        Its counts are not used.
    rules : tuple of str
        Name and SHA-256 of the file of invariants.
    stated, request : NoiseRequest
        The request as given, and the same request per unit of distance.
    audit : TotalsAudit
        The intervals of counts under the published totals alone.
    negative : int
        Number of negative counts in the noisy table.
    """
    guarantee = privacy_guarantee(request, free)
    facts = facts_of_totals(guarantee, free, held)
    losses = move_losses(request, guarantee, free, facts.size_held)
    if request.set_mechanism is not None:
        facts = replace(facts, losses=losses)
    sampler = {key: value for key, value in asdict(report).items() if key != "evidence" or value}
    return {
        "made_by": "isdp privatize",
        "format": FORMAT,
        "for_release": not request.experiment,
        "status": NOT_FOR_RELEASE if request.experiment else FOR_RELEASE,
        "date": started,
        "accepted": list(accepted),
        "summary": opening(
            exact_totals([(one["name"], one["totals"]) for one in checks], len(free.determined)),
            noise_of_margins(margins),
            protection(
                guarantee,
                for_release=not request.experiment,
                exact="the exact totals",
                delta=request.delta,
                losses=losses,
            ),
        ),
        "protection": protection_sentences(guarantee, facts, not request.experiment),
        "input": {
            "table": table.path.name,
            "cells": len(table),
            "count_column": table.count,
            "published_as_they_are": list(table.columns),
            "invariants": rules[0],
            "invariants_sha256": rules[1],
        },
        "output": {"table": "", "sha256": "", "negative_counts": negative},
        "invariants": checks,
        "lattice": {
            "degrees_of_freedom": int(free.degrees),
            "cells_without_freedom": len(free.determined),
            "published_exactly": [table.name(row) for row in free.determined[:MAX_LISTED]],
        },
        "residues": {
            "cells": len(free.revealed_residues),
            "published": list_revealed_residues(table, free, MAX_LISTED),
        },
        "totals_audit": audit.record(table),
        "budget": _budget(stated),
        "mechanism": _mechanism(request, free, guarantee) | _unchanged(margins),
        "levels": levels_of(request, free),
        "sampler": sampler,
        "versions": versions("numpy", "python-flint"),
        "not_said": _not_said(request),
    }


def _budget(stated: NoiseRequest) -> dict[str, object]:
    if stated.levels is not None and stated.levels.errors:
        errors = {name: str(error) for name, error in stated.levels.errors.items()}
        return {"errors": errors, "per": stated.per}
    name = "epsilon" if stated.rho is None else "rho"
    return {name: str(stated.epsilon or stated.rho), "per": stated.per}


def _not_said(request: NoiseRequest) -> list[str]:
    found = [NO_GUARANTEE] * request.experiment + [SEED_KNOWN] * (request.seed is not None)
    return [*found, *NOT_SAID]


def _unchanged(margins: Sequence[Margin]) -> dict[str, object]:
    unchanged = probability_unchanged(margins)
    mean, maximum, method, error = (None, None, "unknown", None) if unchanged is None else unchanged
    return {
        "chance_that_a_count_is_unchanged": mean,
        "largest_chance_that_a_count_is_unchanged": maximum,
        "largest_chance_that_a_count_is_unchanged_error": error,
        "chance_that_a_count_is_unchanged_is": method,
    }


def _mechanism(
    request: NoiseRequest, free: DegreesOfFreedom, guarantee: PrivacyGuarantee
) -> dict[str, object]:
    content: dict[str, object] = {**request.mechanism.as_dict(), "epsilon": None}
    content |= guarantee.record()
    if guarantee.metric == "l1":
        content["loss_at_distance_2"] = upper_decimal(guarantee.loss_at(2))
        content["loss_at_distance_4"] = upper_decimal(guarantee.loss_at(4))
        content["distances"] = describe_distances(free, "l1")
    if guarantee.flavour == "zCDP":
        content |= _concentrated(guarantee, request.delta or DELTA)
        if guarantee.metric == "l2":
            at_two, at_four = (upper_product(guarantee.loss, square) for square in (2, 4))
            content["rho_at_squared_distance_2"] = upper_decimal(at_two)
            content["rho_at_squared_distance_4"] = upper_decimal(at_four)
            content["distances"] = describe_distances(free, "squared l2")
    return content


def _concentrated(guarantee: PrivacyGuarantee, delta: float) -> dict[str, object]:
    """Return epsilon at a delta for one person, or at squared distance 4 if this is unknown."""
    rho, place = guarantee.loss_per_person, "epsilon_per_person"
    if rho is None:
        rho, place = upper_product(guarantee.loss, 4), "epsilon_at_squared_distance_4"
    epsilon = epsilon_above(CONVERSION, rho, delta)
    return {
        f"{place}_at_delta": upper_decimal(epsilon),
        "at_delta": upper_decimal(delta),
        "conversion": f"{CONVERSION}, Corollary 13",
        "max_loss_except_with_delta": upper_decimal(max_loss(rho, delta)),
    }
