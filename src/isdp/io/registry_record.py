"""A draft record of a release for the OpenDP registry of differential privacy deployments.

The layout is that of the records of September 2026 in https://github.com/opendp/
deployments-registry-data. The draft contains only facts of the certificate. The publisher completes
all other fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from isdp.accounting.guarantees import guarantee_from_record, upper_decimal
from isdp.io.wording import capitalized, counted

OPEN = "TO BE FILLED"
HEADER = (
    "# A draft for the registry of differential privacy deployments. It has the facts of\n"
    f"# certificate.json. Complete each field with the text {OPEN}.\n"
)
VARIANTS = {"pure": "Pure DP", "approximate": "Approximate DP", "zCDP": "Zero-concentrated DP"}
PLACES = {"privatize": "mechanism", "topdown": "guarantee", "swap": "privacy"}
POST_PROCESSING = {
    "privatize": "None for the noisy table. Negative counts are not changed.",
    "topdown": "The noisy measurements are fitted, by least squares and controlled rounding, to "
    "integer counts of 0 or more that add up at all levels and have the exact totals.",
    "swap": "The swapped records are sorted by their columns.",
}
COMPOSITION = {
    "privatize": "The noise of all cells is one draw from one distribution.",
    "topdown": "The losses of all measurements of a person add up, over all levels and queries.",
    "swap": "The records are swapped once.",
}


def registry_text(certificate: Mapping[str, Any]) -> str:
    """Return the content of `registry.yaml` for a certificate of a release."""
    text: str = yaml.dump(
        registry_record(certificate), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return HEADER + text


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    """A dumper that writes a string of several lines as a block."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def registry_record(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record. Unknown facts are left out, or marked `OPEN` if the registry needs them.

    Privacy parameters are for one person, or for two sets of swapped records at the smallest
    distance. They are rounded up. They are left out if the loss per person is unknown.
    """
    command = certificate["made_by"].removeprefix("isdp ")
    record = certificate[PLACES[command]]
    swapped = command == "swap"
    return {
        "url_slug": OPEN,
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": OPEN,
                "data_curators": [{"data_curator_name": OPEN, "data_curator_type": OPEN}],
                "intended_use": OPEN,
                "data_product_type": "Dataset" if swapped else "Summary statistics",
                "data_product_region": OPEN,
                "description": f"{OPEN}. {_size(certificate)} {certificate['summary']['noise']}",
                "publication_date": OPEN,
            },
            "dp_variant": {
                "variant_name": VARIANTS[record["flavour"]],
                "data_domain": f"{OPEN}. The guarantee compares {record['relation']}.",
                "unprotected_quantities": _unprotected(certificate),
            },
            "privacy_loss": {
                "privacy_unit": "Record-level" if swapped else "Person-level",
                "privacy_unit_details": certificate["summary"]["protection"],
                "privacy_parameters": _parameters(record),
                "privacy_parameters_details": record["statement"],
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": OPEN,
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": _post_processing(certificate, command),
                "composition": f"{COMPOSITION[command]} Other releases of the same data: {OPEN}.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": OPEN,
                "mechanisms": _mechanisms(certificate),
                "justification": OPEN,
            },
            "administrative": {"registry_authors": [OPEN]},
        },
    }


def _post_processing(certificate: Mapping[str, Any], command: str) -> str:
    text = POST_PROCESSING[command]
    others = certificate["output"].get("others_sha256", {})
    if any(name.startswith("nonnegative.") for name in others):
        text += " Another file has the nearest table without negative counts."
    return text


def _parameters(record: Mapping[str, Any]) -> dict[str, float]:
    if "epsilon_between_nearest" in record:
        return {"epsilon": float(record["epsilon_between_nearest"])}
    guarantee = guarantee_from_record(record)
    if guarantee.loss_per_person is None:
        return {}
    found = {guarantee.parameter: float(upper_decimal(guarantee.loss_per_person))}
    if guarantee.flavour == "approximate":
        found["delta"] = float(upper_decimal(guarantee.delta))
    if "epsilon_per_person_at_delta" in record:
        found["epsilon"] = float(record["epsilon_per_person_at_delta"])
        found["delta"] = float(record["at_delta"])
    return found


def _size(certificate: Mapping[str, Any]) -> str:
    given = certificate["input"]
    if "records" in given:
        return f"{counted(given['records'], 'record')}."
    if "cells" in given:
        return f"A table of {counted(given['cells'], 'cell')}."
    regions = counted(sum(certificate["output"]["regions"]), "region")
    return f"Counts of {regions} of the levels {', '.join(given['levels'])}."


def _unprotected(certificate: Mapping[str, Any]) -> str:
    sets = certificate.get("invariants") or certificate.get("totals") or []
    lines = [_totals(one) for one in sets if one["totals"]]
    lines += [f"{capitalized(f'the {name}')}." for name in certificate.get("held", [])]
    lines = lines or [certificate["summary"]["exact"]]
    determined = certificate.get("lattice", {}).get("cells_without_freedom")
    if determined:
        lines.append(f"{counted(determined, 'cell')} that these totals determine.")
    residues = certificate.get("residues", {})
    if residues.get("cells"):
        lines.append(f"Counts revealed modulo a number: {residues['published']}.")
    if certificate.get("structural_zeros"):
        lines.append(f"Structural zeros: {certificate['structural_zeros']}.")
    if certificate.get("present"):
        lines.append("The groups that are listed as present or absent.")
    published = certificate["input"].get("published_as_they_are")
    if published:
        lines.append(f"The columns {', '.join(published)}.")
    return "\n".join(f"- {line}" for line in lines)


def _totals(one: Mapping[str, Any]) -> str:
    if "columns" in one:
        number = counted(one["totals"], "number", "numbers")
        return f"{number} of records by {', '.join(one['columns'])}."
    return f"{one['name']}: {counted(one['totals'], 'exact total')}."


def _mechanisms(certificate: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {text}" for name, text in certificate["versions"].items())
    name = {
        "isdp topdown": "the TopDown algorithm, with integer noise in each measurement",
        "isdp swap": "permutation swapping",
    }.get(certificate["made_by"]) or f"{certificate['mechanism']['name']} noise under exact totals"
    lines = [f"{name} ({versions})", certificate["status"]]
    if "sampler" in certificate:
        lines.append(f"sampler: {certificate['sampler']['error_words']}")
    return "\n".join(f"- {line}" for line in lines)
