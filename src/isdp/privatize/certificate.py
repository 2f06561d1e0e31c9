"""The certificate of a noisy table: what was held, by what noise, and what it does not promise.

It holds facts about the law, the settings and the noisy table, never a function of the noise drawn
or of the confidential counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from isdp.accounting.conversions import epsilon_above
from isdp.accounting.guarantees import Guarantee, product, upper
from isdp.io.versions import versions
from isdp.privatize.cautions import residues_listed
from isdp.privatize.draw import SamplerReport
from isdp.privatize.freedom import Freedom
from isdp.privatize.margins import EXACT, Unchanged
from isdp.privatize.promise import distances, promise
from isdp.privatize.request import Request
from isdp.privatize.table import Table

MOST_LISTED = 10
CONVERSION = "Canonne-Kamath-Steinke"  # holds for every mechanism of that rho
NOT_FOR_RELEASE = "NOT FOR RELEASE: drawn from a pseudo-random generator, for experiments"
OF_THE_LAW_ALONE = "of the law asked for, and not of this draw"
FOR_RELEASE = "drawn in exact arithmetic from the operating system's randomness"
NOT_SAID = (
    "The guarantee is per unit of distance, not per person, and compares tables that agree in all "
    "totals held here. These totals are published exactly, and nothing is promised about what they "
    "tell: true counts are not negative, so that a total of 0 tells that all of its cells are 0, "
    "and a small one bounds them.",
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
NO_GUARANTEE = (
    "No guarantee holds for this table: a pseudo-random generator can give the noise away, and so "
    "can floating point where it is used, and a Markov chain, where one is taken, has not quite "
    "the law. What is said of privacy is what the law asked for would have."
)
SEED_KNOWN = "Who has the seed takes the noise off: nothing is protected."
TEMPLATE = """\
# Certificate of a noisy table

**{status}.** {date}

{accepted}

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
    unchanged: Unchanged | None,
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
        From `isdp.privatize.run.check_totals`.
    free : Freedom
    request : Request
    report : SamplerReport
    unchanged : Unchanged or None
        Chance that a cell with freedom keeps its count; None where it is not known.
    negative : int
        Negative counts in the noisy table.
    started : str
        When the run began, in UTC.
    accepted : tuple of str
        Names of risks that the user accepted, whether or not the table has them.

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
            "cells_without_freedom": len(free.fixed),
            "published_exactly": [table.name(row) for row in free.fixed[:MOST_LISTED]],
        },
        "residues": {
            "cells": len(free.residues),
            "published": residues_listed(table, free, MOST_LISTED),
        },
        "mechanism": _mechanism(request, free) | _unchanged(unchanged),
        "sampler": sampler,
        "versions": versions("numpy", "python-flint"),
        "not_said": _not_said(request),
    }


def _not_said(request: Request) -> list[str]:
    found = [NO_GUARANTEE] * request.experiment + [SEED_KNOWN] * (request.seed is not None)
    return [*found, *NOT_SAID]


def _unchanged(unchanged: Unchanged | None) -> dict:
    """Lay out the chance that a count is left as it is, on average and at most."""
    found = {"mean": None, "most": None, "how": "unknown", "error": None}
    found |= {} if unchanged is None else unchanged._asdict()
    return {
        "chance_that_a_count_is_unchanged": found["mean"],
        "largest_chance_that_a_count_is_unchanged": found["most"],
        "largest_chance_that_a_count_is_unchanged_error": found["error"],
        "chance_that_a_count_is_unchanged_is": found["how"],
    }


def _mechanism(request: Request, free: Freedom) -> dict:
    """Tell the law's parameters and its guarantee, with epsilon as it was written."""
    guarantee = promise(request, free)
    content = {**request.mechanism.as_dict(), "epsilon": None} | guarantee.record()
    if guarantee.metric == "l1":
        content["loss_at_distance_2"] = upper(guarantee.loss_at(2))
        content["loss_at_distance_4"] = upper(guarantee.loss_at(4))
        content["distances"] = distances(free, squared=False)
    if guarantee.flavour == "zCDP":
        content |= _concentrated(guarantee, request.delta, distances(free, squared=True))
    return content


def _concentrated(guarantee: Guarantee, delta: float, words: str) -> dict:
    """Tell rho at the nearest tables, and epsilon at a delta for them."""
    alone = guarantee.per_person is not None
    rho = product(guarantee.loss, 2 if alone else 4)
    return {
        "rho_at_squared_distance_2": upper(product(guarantee.loss, 2)),
        "rho_at_squared_distance_4": upper(product(guarantee.loss, 4)),
        "distances": words,
        "epsilon_per_person_at_delta" if alone else "epsilon_at_squared_distance_4_at_delta": upper(
            epsilon_above(CONVERSION, rho, delta)
        ),
        "at_delta": upper(delta),
        "conversion": f"{CONVERSION}, Corollary 13",
    }


def markdown(certificate: dict) -> str:
    """Write the certificate for people."""
    given, output, lattice = (certificate[key] for key in ("input", "output", "lattice"))
    return TEMPLATE.format(
        status=certificate["status"],
        date=certificate["date"],
        accepted=accepted_line(certificate["accepted"]),
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
        noise=_listed(_noise(certificate)),
        not_said=_listed(certificate["not_said"]),
        table=given["table"],
        others=", ".join(given["published_as_they_are"]),
        rules=given["invariants"],
        rules_sha256=given["invariants_sha256"],
        tables=_listed(
            f"{name}: sha256 {digest}"
            for name, digest in {
                output["table"]: output["sha256"],
                **output["others_sha256"],
            }.items()
        ),
        versions=", ".join(f"{name} {text}" for name, text in certificate["versions"].items()),
    )


def accepted_line(accepted: Iterable[str]) -> str:
    """Write the names of the risks that were accepted."""
    return f"Risks that were accepted by name (`--accept`): {', '.join(accepted) or 'none'}."


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _fixed(lattice: dict) -> str:
    count = lattice["cells_without_freedom"]
    if not count:
        return "0"
    listed = [*lattice["published_exactly"], *(["..."] if count > MOST_LISTED else [])]
    are = "which is **published exactly as it is**"
    if count > 1:
        are = "which are **published exactly as they are**"
    return f"{count:,}, {are}: {'; '.join(listed)}"


def _residues(residues: dict) -> str:
    if not residues["cells"]:
        return "0"
    remainders = "remainder is" if residues["cells"] == 1 else "remainders are"
    return f"{residues['cells']:,}, whose **{remainders} published**: {residues['published']}"


def said_of_privacy(certificate: dict, statement: str) -> str:
    """Put before the guarantee in words that it does not hold for what is not for release."""
    return statement if certificate["for_release"] else f"{OF_THE_LAW_ALONE}: {statement}"


def _noise(certificate: dict) -> list[str]:
    law, sampler = certificate["mechanism"], certificate["sampler"]
    lines = [
        f"mechanism: {law['name']}"
        f"{', norm ' + law['norm'] if 'norm' in law else ''}"
        f"{', sigma ' + format(law['sigma'], '.6g') if 'sigma' in law else ''}",
        f"privacy: {said_of_privacy(certificate, law['statement'])}",
    ]
    if law["epsilon"] is not None:
        lines.append(f"epsilon: {law['epsilon']} per {law['unit']}")
    if "rho" in law:
        lines += [
            f"rho: {law['rho']} per {law['unit']}; at squared distance 2: "
            f"{law['rho_at_squared_distance_2']}, at squared distance 4: "
            f"{law['rho_at_squared_distance_4']}; {law['distances']}",
            f"{_epsilon_at_delta(law)} at delta {law['at_delta']} (conversion: "
            f"{law['conversion']})",
        ]
    elif "distances" in law:
        lines.append(
            f"privacy loss at distance 2: {law['loss_at_distance_2']}, at distance 4: "
            f"{law['loss_at_distance_4']}; {law['distances']}"
        )
    lines.append(f"chance that the noise of a cell with freedom is zero: {_zero(law)}")
    bound = "unknown" if sampler["error_bound"] is None else upper(sampler["error_bound"], 3)
    return [
        *lines,
        f"sampler: {sampler['method']}; {sampler['reason']}",
        f"error bound: {bound}; {sampler['error_words']}",
        f"arithmetic: {sampler['arithmetic']}; randomness: {sampler['randomness']}",
        *(f"{name.replace('_', ' ')}: {x}" for name, x in sampler.get("evidence", {}).items()),
    ]


def _epsilon_at_delta(law: dict) -> str:
    if "epsilon_per_person_at_delta" in law:
        return (
            f"for one person who changes cell, this is epsilon at most "
            f"{law['epsilon_per_person_at_delta']}"
        )
    return (
        f"between tables at a squared distance of 4, this is epsilon at most "
        f"{law['epsilon_at_squared_distance_4_at_delta']}"
    )


def _zero(law: dict) -> str:
    mean = law["chance_that_a_count_is_unchanged"]
    if mean is None:
        return "not known"
    most = law["largest_chance_that_a_count_is_unchanged"]
    error = law["largest_chance_that_a_count_is_unchanged_error"]
    how = {EXACT: "by the law"}.get(law["chance_that_a_count_is_unchanged_is"], "simulated")
    how += f"; two standard errors of the latter: {error:.1%}" * bool(error)
    return f"{mean:.1%} on average, {most:.1%} where it is largest ({how})"
