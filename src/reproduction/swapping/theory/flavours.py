"""Flavours of differential privacy as data, and conditions for their comparison.

A guarantee has five components (Bailie, Gong and Meng, *Can Swapping be Differentially Private?*).
The domain is the set of datasets, and the scope is the set of pairs of datasets that are compared.
The unit is a distance between datasets, and the standard is a divergence between distributions. The
intensity is a budget per unit. The first four components are the flavour of the guarantee. Budgets
of different flavours are different quantities. Only a theorem that converts one flavour to the
other allows a comparison.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import yaml

from isdp.errors import InputError

FLAVOUR = ("domain", "scope", "unit", "standard")
EVERYTHING = "all datasets"
PURE, RENYI = "MULT", "D_nor"


@dataclass(frozen=True)
class BuildingBlocks:
    """The guarantee of one system.

    `domain` is the set of possible datasets X. `scope` is `EVERYTHING`, or the invariants on which
    two datasets must agree. `unit` is the distance d_X. `standard` names the divergence d_Pr.
    "MULT" gives pure differential privacy. "D_nor" gives zCDP, whose rho is the squared budget.
    `intensity` is the budget per unit, or None if it depends on settings that `note` states. `code`
    is the full name of the function that computes or verifies the budget, or "" if there is none.
    """

    name: str
    domain: str
    scope: str
    unit: str
    standard: str
    intensity: float | None
    source: str
    code: str = ""
    note: str = ""


def _read_system(entry: dict) -> BuildingBlocks:
    rho = entry.pop("rho", None)
    intensity = entry.pop("intensity", None) if rho is None else math.sqrt(rho)
    return BuildingBlocks(intensity=intensity, **entry)


_DATA = yaml.safe_load(Path(__file__).with_name("flavours.yaml").read_text(encoding="utf-8"))
SYSTEMS = tuple(map(_read_system, _DATA["systems"]))
# flavours that the slides cite, each with the component that it changes
CITED = [
    {"name": name, "block": block, "citation": citation}
    for block, names in _DATA["cited"].items()
    for name, citation in names.items()
]


def differences(first: BuildingBlocks, second: BuildingBlocks) -> tuple[str, ...]:
    """List the components of the flavour in which two guarantees differ."""
    return tuple(name for name in FLAVOUR if getattr(first, name) != getattr(second, name))


def compare(first: BuildingBlocks, second: BuildingBlocks) -> float:
    """Divide the first budget by the second, for two budgets of one flavour.

    Raises InputError if the flavours differ, or if a budget is not a positive number. The message
    names the components that differ and the theorems that relate them.
    """
    unlike = differences(first, second)
    if unlike:
        raise InputError(
            f"flavours: the budgets of {first.name!r} and {second.name!r} have different flavours: "
            f"they differ in {', '.join(unlike)}{_bridges(unlike, first, second)}"
        )
    for one in (first, second):
        if one.intensity is None or not one.intensity > 0:
            raise InputError(f"flavours: {one.name!r} has no positive budget to compare")
    return first.intensity / second.intensity


# maps each theorem to the component that it changes and a test of the values before and after
THEOREMS = {
    # Bun and Steinke 2016, Proposition 1.4: epsilon-DP implies zCDP with rho = epsilon^2 / 2
    "pure to zCDP": ("standard", lambda start, end: start == PURE and end == RENYI),
    # a bound over all datasets holds for the datasets that agree on invariants
    "fewer pairs of datasets": ("scope", lambda start, end: start == EVERYTHING != end),
}


def _bridges(unlike: tuple[str, ...], first: BuildingBlocks, second: BuildingBlocks) -> str:
    """Name the theorems that convert one of two flavours to the other, by component."""
    found = []
    for block in unlike:
        one, other = getattr(first, block), getattr(second, block)
        for name, (changed, leads) in THEOREMS.items():
            if changed == block and (leads(one, other) or leads(other, one)):
                found.append(f"{block} by {name!r}")
    missing = [block for block in unlike if not any(f.startswith(block) for f in found)]
    words = f"; there is a theorem for {', '.join(found)}" if found else ""
    return words + (f"; none for {', '.join(missing)}" if missing else "")
