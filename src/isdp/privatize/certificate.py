"""The certificate of a noisy table: what was held, by what noise, and what it does not promise.

It holds facts about the law, the settings and the noisy table, never a function of the noise drawn
or of the confidential counts.
"""

from __future__ import annotations

from dataclasses import asdict, replace

from isdp.accounting.conversions import convert
from isdp.accounting.guarantees import Guarantee, upper
from isdp.io.versions import versions
from isdp.privatize.cautions import residues_listed
from isdp.privatize.draw import SamplerReport
from isdp.privatize.freedom import Freedom
from isdp.privatize.request import Request
from isdp.privatize.table import Table

MOST_LISTED = 10
CONVERSION = "Canonne-Kamath-Steinke"  # holds for every mechanism of that rho
NOT_FOR_RELEASE = (
    "NOT FOR RELEASE: drawn in floating point from a pseudo-random generator, for experiments"
)
FOR_RELEASE = "drawn in exact arithmetic from the operating system's randomness"
NOT_SAID = (
    "The guarantee is per unit of distance, not per person, and compares tables that agree in all "
    "totals held here. These totals are published exactly, and nothing is promised about what they "
    "tell.",
    "Each further release of the same data adds its epsilon (or rho), and then only for tables "
    "that agree in the totals of both releases: the totals of all releases are published, and "
    "together they may settle cells that no single certificate lists.",
    "The rows, their order, and all columns but the counts are published as they are. A table that "
    "lists only the cells that are not empty, or is sorted by its counts, tells of them by that.",
    "Negative counts are left as they are: to raise them to zero would break the totals.",
    "No checksum of the confidential table is given, as it would confirm guesses of it; and "
    "nothing computed from the noise drawn, as noise and noisy table give the confidential one.",
    "How long the drawing took, and the memory of the machine, are outside the guarantee.",
)
TEMPLATE = """\
# Certificate of a noisy table

**{status}.** {date}

## Totals, compared in integers

| totals | number | largest difference |
|---|---:|---:|
{totals}

- cells: {cells:,}; degrees of freedom of the noise: {degrees:,}
- cells without freedom: {fixed}
- cells known up to a multiple: {residues}
- negative counts in the noisy table: {negative:,}

## Noise

{noise}

## What this does not say

{not_said}

## Files

- {table}: not identified further; columns published as they are: {others}
- {rules}: sha256 {rules_sha256}
- noisy.csv: sha256 {sha256}
{tables}
- versions: {versions}
"""


def describe(
    *,
    table: Table,
    rules: tuple[str, str],
    checks: list[dict],
    free: Freedom,
    request: Request,
    report: SamplerReport,
    unchanged: float | None,
    negative: int,
    started: str,
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
        From `isdp.privatize.run.check_totals`.
    free : Freedom
    request : Request
    report : SamplerReport
    unchanged : float or None
        Mean chance that a cell with freedom keeps its count, by the law.
    negative : int
        Negative counts in the noisy table.
    started : str
        When the run began, in UTC.

    Returns
    -------
    dict
        Ready for JSON; the noisy table's checksum is still to come.
    """
    sampler = {key: value for key, value in asdict(report).items() if key != "evidence" or value}
    return {
        "made_by": "isdp privatize",
        "for_release": not request.experiment,
        "status": NOT_FOR_RELEASE if request.experiment else FOR_RELEASE,
        "date": started,
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
            "cells_without_freedom": len(free.fixed),
            "published_exactly": [table.name(row) for row in free.fixed[:MOST_LISTED]],
        },
        "residues": {
            "cells": len(free.residues),
            "published": residues_listed(table, free, MOST_LISTED),
        },
        "mechanism": _mechanism(request, nested=free.blocks is not None)
        | {"chance_that_a_count_is_unchanged": unchanged},
        "sampler": sampler,
        "versions": versions("numpy", "python-flint"),
        "not_said": list(NOT_SAID),
    }


def _mechanism(request: Request, nested: bool) -> dict:
    """Tell the law's parameters and its guarantee, with epsilon as it was written."""
    guarantee = request.mechanism.guarantee
    exact = request.epsilon if request.rho is None else request.rho
    if exact is not None:
        guarantee = replace(guarantee, loss=exact)
    content = {**request.mechanism.as_dict(), "epsilon": None} | guarantee.record()
    if guarantee.metric == "l1":
        content["loss_at_distance_2"] = upper(guarantee.loss_at(2))
        content["loss_at_distance_4"] = upper(guarantee.loss_at(4))
        content["distances"] = (
            "one person who changes cell and leaves all totals as they are is a distance of 2"
            if nested
            else "under totals that overlap one person alone may be unable to change cell; under "
            "both margins of a two-way table the nearest tables are at a distance of 4"
        )
    if guarantee.flavour == "zCDP":
        content |= _concentrated(guarantee, request.delta, nested)
    return content


def _concentrated(guarantee: Guarantee, delta: float, nested: bool) -> dict:
    """Tell rho at the nearest tables, and epsilon at a delta for one person who changes cell."""
    converted = convert(guarantee, delta, CONVERSION)
    return {
        "rho_at_squared_distance_2": upper(2 * guarantee.loss),
        "rho_at_squared_distance_4": upper(4 * guarantee.loss),
        "distances": (
            "one person who changes cell and leaves all totals as they are is a squared distance "
            "of 2"
            if nested
            else "under totals that overlap one person alone may be unable to change cell; under "
            "both margins of a two-way table the nearest tables are at a squared distance of 4"
        ),
        "epsilon_per_person_at_delta": upper(converted.loss),
        "at_delta": upper(delta),
        "conversion": f"{CONVERSION}, Corollary 13",
    }


def markdown(certificate: dict) -> str:
    """Write the certificate for people."""
    given, output, lattice = (certificate[key] for key in ("input", "output", "lattice"))
    return TEMPLATE.format(
        status=certificate["status"],
        date=certificate["date"],
        totals="\n".join(
            f"| {check['name'].replace('|', '/')} | {check['totals']:,} | "
            f"{check['largest_difference']} |"
            for check in certificate["invariants"]
        ),
        cells=given["cells"],
        degrees=lattice["degrees_of_freedom"],
        fixed=_fixed(lattice),
        residues=_residues(certificate["residues"]),
        negative=output["negative_counts"],
        noise=_listed(_noise(certificate["mechanism"], certificate["sampler"])),
        not_said=_listed(certificate["not_said"]),
        table=given["table"],
        others=", ".join(given["published_as_they_are"]),
        rules=given["invariants"],
        rules_sha256=given["invariants_sha256"],
        sha256=output["sha256"],
        tables=_listed(
            [f"{name}: sha256 {digest}" for name, digest in output["others_sha256"].items()]
        ),
        versions=", ".join(f"{name} {text}" for name, text in certificate["versions"].items()),
    )


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _fixed(lattice: dict) -> str:
    count = lattice["cells_without_freedom"]
    if not count:
        return "0"
    listed = [*lattice["published_exactly"], *(["..."] if count > MOST_LISTED else [])]
    return f"{count:,}, which are **published exactly as they are**: {'; '.join(listed)}"


def _residues(residues: dict) -> str:
    if not residues["cells"]:
        return "0"
    return f"{residues['cells']:,}, whose **remainders are published**: {residues['published']}"


def _noise(law: dict, sampler: dict) -> list[str]:
    lines = [
        f"mechanism: {law['name']}"
        f"{', norm ' + law['norm'] if 'norm' in law else ''}"
        f"{', sigma ' + format(law['sigma'], '.6g') if 'sigma' in law else ''}",
        f"privacy: {law['statement']}",
    ]
    if law["epsilon"] is not None:
        lines.append(f"epsilon: {law['epsilon']} per {law['unit']}")
    if "rho" in law:
        lines += [
            f"rho: {law['rho']} per {law['unit']}; at squared distance 2: "
            f"{law['rho_at_squared_distance_2']}, at squared distance 4: "
            f"{law['rho_at_squared_distance_4']}; {law['distances']}",
            f"for one person who changes cell, this is epsilon at most "
            f"{law['epsilon_per_person_at_delta']} at delta {law['at_delta']} (conversion: "
            f"{law['conversion']})",
        ]
    elif "distances" in law:
        lines.append(
            f"privacy loss at distance 2: {law['loss_at_distance_2']}, at distance 4: "
            f"{law['loss_at_distance_4']}; {law['distances']}"
        )
    if law["chance_that_a_count_is_unchanged"] is not None:
        lines.append(
            f"chance that the noise of a cell is zero, by the law: "
            f"{law['chance_that_a_count_is_unchanged']:.1%}"
        )
    bound = "unknown" if sampler["error_bound"] is None else upper(sampler["error_bound"], 3)
    return [
        *lines,
        f"sampler: {sampler['method']}; {sampler['reason']}",
        f"error bound: {bound}; {sampler['error_words']}",
        f"arithmetic: {sampler['arithmetic']}; randomness: {sampler['randomness']}",
        *(f"{name.replace('_', ' ')}: {x}" for name, x in sampler.get("evidence", {}).items()),
    ]
