"""The content of the certificate of a noisy table: totals held, noise, and limits of the guarantee.

It holds facts about the law, the settings and the noisy table, never a function of the noise drawn
or of the confidential counts.
"""

from __future__ import annotations

from dataclasses import asdict

from isdp.accounting.conversions import epsilon_above
from isdp.accounting.guarantees import PrivacyGuarantee, upper_decimal, upper_product
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.guarantee import describe_distances, privacy_guarantee
from isdp.commands.shared.margins import ProbabilityUnchanged
from isdp.commands.shared.noise import SamplerReport
from isdp.commands.shared.request import NoiseRequest
from isdp.commands.shared.table import Table
from isdp.commands.shared.warnings import list_revealed_residues
from isdp.io.certificate import FOR_RELEASE, FORMAT, NO_GUARANTEE, NOT_FOR_RELEASE, SEED_KNOWN
from isdp.io.versions import versions

MAX_LISTED = 10
CONVERSION = "Canonne-Kamath-Steinke"  # holds for every mechanism of that rho
NOT_SAID = (
    "The guarantee compares tables that agree in all totals held here. These totals are published "
    "exactly, and no guarantee covers what they reveal: true counts are not negative, so that a "
    "total of 0 shows that all of its cells are 0, and a small total bounds its cells.",
    "Each further release of the same data adds its epsilon (or rho), and then only for tables "
    "that agree in the totals of both releases: the totals of all releases are published, and "
    "together they may settle cells that no single certificate lists.",
    "The rows, their order, and all columns but the counts are published as they are. A table that "
    "lists only the cells that are not empty, or is sorted by its counts, tells of them by that.",
    "Negative counts are left as they are: to raise them to zero would break the totals that they "
    "stand in, and bias the others.",
    "No checksum of the confidential table is given, as it would confirm guesses of it; and "
    "nothing computed from the noise drawn, as noise and noisy table give the confidential one.",
    "How long the drawing took, and the memory of the machine, are outside the guarantee.",
)


def describe(
    *,
    table: Table,
    rules: tuple[str, str],
    checks: list[dict],
    free: DegreesOfFreedom,
    stated: NoiseRequest,
    request: NoiseRequest,
    report: SamplerReport,
    unchanged: ProbabilityUnchanged | None,
    negative: int,
    started: str,
    accepted: tuple[str, ...] = (),
) -> dict:
    """Put the certificate together.

    Parameters
    ----------
    table : Table
        Of which only the names of file and columns, the number of rows and the names of cells
        that the totals give away are used.
    rules : tuple of str
        Name and SHA-256 of the file of invariants.
    checks : list of dict
        From `isdp.commands.privatize.run.check_totals`.
    stated, request : NoiseRequest
        As it was given, and the same request per unit.
    unchanged : ProbabilityUnchanged or None
        Chance that a cell with freedom keeps its count; None where it is not known.

    Returns
    -------
    dict
        Ready for JSON; the noisy table's checksum is still to come.
    """
    sampler = {key: value for key, value in asdict(report).items() if key != "evidence" or value}
    return {
        "made_by": "isdp privatize",
        "format": FORMAT,
        "for_release": not request.experiment,
        "status": NOT_FOR_RELEASE if request.experiment else FOR_RELEASE,
        "date": started,
        "accepted": list(accepted),
        "input": {
            "table": table.path.name,
            "cells": len(table),
            "count_column": table.count,
            "published_as_they_are": table.described_by,
            "invariants": rules[0],
            "invariants_sha256": rules[1],
        },
        "output": {"table": "noisy.csv", "sha256": "", "negative_counts": negative},
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
        "budget": {
            "epsilon" if stated.rho is None else "rho": str(stated.epsilon or stated.rho),
            "per": stated.per,
        },
        "mechanism": _mechanism(request, free) | _unchanged(unchanged),
        "sampler": sampler,
        "versions": versions("numpy", "python-flint"),
        "not_said": _not_said(request),
    }


def _not_said(request: NoiseRequest) -> list[str]:
    found = [NO_GUARANTEE] * request.experiment + [SEED_KNOWN] * (request.seed is not None)
    return [*found, *NOT_SAID]


def _unchanged(unchanged: ProbabilityUnchanged | None) -> dict:
    """Lay out the chance that a count is left as it is, on average and at most."""
    found = {"mean": None, "most": None, "how": "unknown", "error": None}
    found |= {} if unchanged is None else unchanged._asdict()
    return {
        "chance_that_a_count_is_unchanged": found["mean"],
        "largest_chance_that_a_count_is_unchanged": found["most"],
        "largest_chance_that_a_count_is_unchanged_error": found["error"],
        "chance_that_a_count_is_unchanged_is": found["how"],
    }


def _mechanism(request: NoiseRequest, free: DegreesOfFreedom) -> dict:
    """Tell the law's parameters and its guarantee, with epsilon as it was written."""
    guarantee = privacy_guarantee(request, free)
    content = {**request.mechanism.as_dict(), "epsilon": None} | guarantee.record()
    if guarantee.metric == "l1":
        content["loss_at_distance_2"] = upper_decimal(guarantee.loss_at(2))
        content["loss_at_distance_4"] = upper_decimal(guarantee.loss_at(4))
        content["distances"] = describe_distances(free, squared=False)
    if guarantee.flavour == "zCDP":
        content |= _concentrated(guarantee, request.delta, describe_distances(free, squared=True))
    return content


def _concentrated(guarantee: PrivacyGuarantee, delta: float, words: str) -> dict:
    """Tell rho at the nearest tables, and epsilon at a delta for them."""
    known = guarantee.per_person is not None
    rho = guarantee.loss_per_person if known else upper_product(guarantee.loss, 4)
    return {
        "rho_at_squared_distance_2": upper_decimal(upper_product(guarantee.loss, 2)),
        "rho_at_squared_distance_4": upper_decimal(upper_product(guarantee.loss, 4)),
        "distances": words,
        "epsilon_per_person_at_delta"
        if known
        else "epsilon_at_squared_distance_4_at_delta": upper_decimal(
            epsilon_above(CONVERSION, rho, delta)
        ),
        "at_delta": upper_decimal(delta),
        "conversion": f"{CONVERSION}, Corollary 13",
    }
