"""The certificate of a noisy table: what was held, by what noise, and what it does not promise.

It holds facts about the law, the settings and the noisy table, never a function of the noise drawn
or of the confidential counts.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from isdp.accounting import upper
from isdp.privatize.tables import Freedom, Table

MOST_LISTED = 10
NOT_FOR_RELEASE = (
    "NOT FOR RELEASE: drawn in floating point from a pseudo-random generator, for experiments"
)
FOR_RELEASE = "drawn in exact arithmetic from the operating system's randomness"
NOT_SAID = (
    "The guarantee is per unit of the norm, not per person, and for this table alone: each further "
    "release of the same data adds its epsilon.",
    "It compares tables with equal invariants. The totals held are published exactly, and nothing "
    "is promised about what they tell.",
    "The rows, their order, and all columns but the counts are published as they are. A table that "
    "lists only the cells that are not empty, or is sorted by its counts, tells of them by that.",
    "Negative counts are left as they are: to raise them to zero would break the totals.",
    "No checksum of the confidential table is given, as it would confirm guesses of it; and "
    "nothing computed from the noise drawn, as noise and noisy table give the confidential one.",
    "How long the drawing took, and the memory of the machine, are outside the guarantee.",
)


def describe(
    *,
    table: Table,
    rules: tuple[str, str],
    checks: list[dict],
    free: Freedom,
    nested: bool,
    request,
    sampler: dict,
    negative: int,
    started: str,
) -> dict:
    """Put the certificate together.

    Parameters
    ----------
    table : Table
        Of which only the names of file and columns, the number of rows and the names of cells
        without freedom are used.
    rules : tuple of str
        Name and SHA-256 of the file of invariants.
    checks : list of dict
        From `isdp.privatize.run.check_totals`.
    free : Freedom
    nested : bool
        Whether the totals are disjoint or nested.
    request : isdp.privatize.run.Request
    sampler : dict
    negative : int
        Negative counts in the noisy table.
    started : str
        When the run began, in UTC.

    Returns
    -------
    dict
        Ready for JSON.
    """
    others = [column for column in table.frame.columns if column != table.count]
    return {
        "made_by": "isdp privatize",
        "for_release": not request.experiment,
        "status": NOT_FOR_RELEASE if request.experiment else FOR_RELEASE,
        "date": started,
        "input": {
            "table": table.path.name,
            "cells": len(table.frame),
            "count_column": table.count,
            "published_as_they_are": others,
            "invariants": rules[0],
            "invariants_sha256": rules[1],
        },
        "output": {"table": "noisy.csv", "sha256": "", "negative_counts": negative},
        "invariants": checks,
        "lattice": {
            "degrees_of_freedom": int(free.degrees),
            "cells_without_freedom": len(free.fixed),
            "published_exactly": [table.name(row) for row in free.fixed[:MOST_LISTED]],
        },
        "mechanism": _mechanism(request, nested),
        "sampler": sampler,
        "versions": {name: _version(name) for name in ("isdp", "numpy", "python-flint")},
        "not_said": list(NOT_SAID),
    }


def _mechanism(request, nested: bool) -> dict:
    """Tell the law's parameters and its guarantee, with epsilon as it was written."""
    guarantee = request.mechanism.guarantee
    if request.epsilon is not None:
        guarantee = replace(guarantee, loss=request.epsilon)
    content = {**request.mechanism.as_dict(), "epsilon": None} | guarantee.record()
    if request.epsilon is not None:
        content["loss_at_distance_2"] = upper(guarantee.loss_at(2))
        content["loss_at_distance_4"] = upper(guarantee.loss_at(4))
        content["distances"] = (
            "one person who changes cell and leaves all totals as they are is a distance of 2"
            if nested
            else "under totals that overlap one person alone may be unable to change cell; under "
            "both margins of a two-way table the nearest tables are at a distance of 4"
        )
    return content


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed as a package"


def markdown(certificate: dict) -> str:
    """Write the certificate for people."""
    given, output, lattice, law, sampler = (
        certificate[key] for key in ("input", "output", "lattice", "mechanism", "sampler")
    )
    fixed = f"{lattice['cells_without_freedom']:,}"
    if lattice["cells_without_freedom"]:
        listed = "; ".join(lattice["published_exactly"])
        more = "; ..." if lattice["cells_without_freedom"] > MOST_LISTED else ""
        fixed += f", which are **published exactly as they are**: {listed}{more}"
    lines = [
        "# Certificate of a noisy table",
        "",
        f"**{certificate['status']}.** {certificate['date']}",
        "",
        "## Totals, compared in integers",
        "",
        "| totals | number | largest difference |",
        "|---|---:|---:|",
        *(
            f"| {check['name'].replace('|', '/')} | {check['totals']:,} | "
            f"{check['largest_difference']} |"
            for check in certificate["invariants"]
        ),
        "",
        f"- cells: {given['cells']:,}; degrees of freedom of the noise: "
        f"{lattice['degrees_of_freedom']:,}",
        f"- cells without freedom: {fixed}",
        f"- negative counts in the noisy table: {output['negative_counts']:,}",
        "",
        "## Noise",
        "",
        f"- mechanism: {law['name']}{', norm ' + law['norm'] if 'norm' in law else ''}",
        f"- privacy: {law['statement']}",
    ]
    if law["epsilon"] is not None:
        lines.append(f"- epsilon: {law['epsilon']} per {law['unit']}")
    if "distances" in law:
        lines.append(
            f"- privacy loss at distance 2: {law['loss_at_distance_2']}, at distance 4: "
            f"{law['loss_at_distance_4']}; {law['distances']}"
        )
    bound = "unknown" if sampler["error_bound"] is None else f"{sampler['error_bound']:.3g}"
    lines += [
        f"- sampler: {sampler['method']}; {sampler['reason']}",
        f"- error bound: {bound}; {sampler['error_words']}",
        f"- arithmetic: {sampler['arithmetic']}; randomness: {sampler['randomness']}",
    ]
    for name, value in sampler.get("evidence", {}).items():
        lines.append(f"- {name.replace('_', ' ')}: {value}")
    lines += ["", "## What this does not say", "", *(f"- {x}" for x in certificate["not_said"])]
    lines += [
        "",
        "## Files",
        "",
        f"- {given['table']}: not identified further; columns published as they are: "
        f"{', '.join(given['published_as_they_are'])}",
        f"- {given['invariants']}: sha256 {given['invariants_sha256']}",
        f"- {output['table']}: sha256 {output['sha256']}",
        f"- versions: {', '.join(f'{k} {v}' for k, v in certificate['versions'].items())}",
    ]
    return "\n".join(lines) + "\n"
