"""Flavours of differential privacy as data, and conditions for their comparison.

A guarantee has five components (Bailie, Gong and Meng, *Can Swapping be Differentially Private?*):
the domain of datasets, the scope (which datasets are compared), the unit (a distance between
datasets), the standard (a divergence between distributions) and the intensity (a budget per unit).
The first four are its flavour. Budgets of different flavours are different quantities. They can be
compared only by a theorem that converts one flavour to the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from isdp.errors import InputError

FLAVOUR = ("domain", "scope", "unit", "standard")
EVERYTHING = "all datasets"
PURE, RENYI = "MULT", "D_nor"
PERSON, HOUSEHOLD, CELLS = "d_HAM of persons", "d_HAM of households", "l1 distance of tables"


@dataclass(frozen=True)
class BuildingBlocks:
    """The guarantee of one system.

    `domain` has the possible datasets X. `scope` is `EVERYTHING`, or the invariants on which two
    datasets must agree. `unit` is the distance d_X. `standard` is the divergence d_Pr: "MULT"
    (pure), or "D_nor", for which zCDP with rho is a budget of sqrt(rho). `intensity` is the budget
    per unit, or None if it depends on settings that `note` states. `code` is the full name of the
    function that computes or verifies it, or "".
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


SLIDES = "Bailie, Gong and Meng 2023"
CENSUS = "census edited files"
TOPDOWN = (
    "equal state populations, housing units and occupied group quarters by block, structural zeros"
)
SYSTEMS = (
    BuildingBlocks(
        "TopDown, PL 94-171",
        CENSUS,
        TOPDOWN,
        PERSON,
        RENYI,
        math.sqrt(2.63),
        f"Abowd et al. 2022; {SLIDES}",
        "isdp.accounting.conversions.convert",
        "zCDP with rho = 2.63",
    ),
    BuildingBlocks(
        "TopDown, PL 94-171 and DHC",
        CENSUS,
        TOPDOWN,
        PERSON,
        RENYI,
        math.sqrt(15.29),
        f"Abowd et al. 2022; {SLIDES}",
        "isdp.accounting.conversions.convert",
        "zCDP with rho = 15.29, which the slides also write rho^2",
    ),
    BuildingBlocks(
        "SafeTab, DDHC-A",
        CENSUS,
        EVERYTHING,
        PERSON,
        RENYI,
        math.sqrt(19.776),
        f"Tumult Labs 2022; {SLIDES}",
        "isdp.accounting.conversions.convert",
        "zCDP with rho = 19.776",
    ),
    BuildingBlocks(
        "permutation swapping",
        CENSUS,
        "equal V_Hold and equal V_Match x V_Swap",
        HOUSEHOLD,
        PURE,
        None,
        SLIDES,
        "isdp.swapping.privacy.bound.epsilon_bound",
        "ln(b + 1) - ln o, or ln o if that is larger, for odds o and largest stratum b; 9.37 to "
        "19.38 for the settings of the slides",
    ),
    BuildingBlocks(
        "integer subspace DP, l1",
        "tables of counts",
        "equal A x, integer",
        CELLS,
        PURE,
        None,
        "Dharangutte, Gao, Gong and Yu 2023, Theorem 10",
        "isdp.draw_noise",
        "epsilon as chosen; 2 units for a person who changes cell, 4 for an exchange",
    ),
    BuildingBlocks(
        "subspace DP",
        "tables of counts",
        "all datasets of one size, in what the invariants leave free",
        PERSON,
        PURE,
        None,
        "Gao, Gong and Yu 2022, Definitions 2.5 and 2.6",
        "isdp.subspace.ProjectedLaplace",
        "epsilon as chosen, for one replaced record; the Gaussian variants are approximate or zCDP",
    ),
    BuildingBlocks(
        "congenial DP",
        "tables of counts",
        "equal linear invariants, and inequalities by conditioning",
        CELLS,
        PURE,
        None,
        "Gong and Meng 2020",
        note="(1 + gamma) times the epsilon chosen, gamma from -1 to 1 (Theorem 2.1)",
    ),
    BuildingBlocks(
        "exact release of the invariants",
        "any",
        "equal invariants",
        "any",
        PURE,
        0.0,
        SLIDES,
        "isdp.accounting.divergences.multiplicative",
        "0 in every flavour whose scope holds the invariants fixed",
    ),
    BuildingBlocks(
        "Laplace noise without invariants",
        "tables of counts",
        EVERYTHING,
        CELLS,
        PURE,
        None,
        "Dwork et al. 2006",
        "isdp.mechanisms.GeneralizedLaplace",
        "epsilon as chosen",
    ),
)


def system(name: str) -> BuildingBlocks:
    """Return a system by its name; raise InputError for an unknown name."""
    for one in SYSTEMS:
        if one.name == name:
            return one
    raise InputError(
        f"flavours: unknown system {name!r}; choose from {', '.join(one.name for one in SYSTEMS)}"
    )


def differences(first: BuildingBlocks, second: BuildingBlocks) -> tuple[str, ...]:
    """List the components of the flavour in which two guarantees differ."""
    return tuple(name for name in FLAVOUR if getattr(first, name) != getattr(second, name))


def compare(first: BuildingBlocks, second: BuildingBlocks) -> float:
    """Divide the first budget by the second, for two budgets of one flavour.

    Raises InputError if the flavours differ, naming the components and the theorems that relate
    them, or if a budget is not a positive number.
    """
    unlike = differences(first, second)
    if unlike:
        raise InputError(
            f"flavours: the budgets of {first.name!r} and {second.name!r} are not of one kind: "
            f"they differ in {', '.join(unlike)}{_bridges(unlike, first, second)}"
        )
    for one in (first, second):
        if one.intensity is None or not one.intensity > 0:
            raise InputError(f"flavours: {one.name!r} has no positive budget to compare")
    return first.intensity / second.intensity


# the component that a theorem changes, and a test of its values before and after
THEOREMS = {
    # Bun and Steinke 2016, Proposition 1.4: epsilon-DP is zCDP with rho = epsilon^2 / 2
    "pure to zCDP": ("standard", lambda start, end: start == PURE and end == RENYI),
    # a bound over all datasets holds for those that agree on invariants
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


@dataclass(frozen=True)
class Cited:
    """A flavour that the slides cite, and the component that it changes."""

    name: str
    block: str
    citation: str


CITED = tuple(
    Cited(name, block, citation)
    for block, names in {
        "standard": {
            "approximate DP": "Dwork et al. 2006a",
            "Renyi DP": "Mironov 2017",
            "concentrated DP": "Bun and Steinke 2016",
            "f-divergence privacy": "Barber and Duchi 2014; Barthe and Olmedo 2013",
            "f-DP and Gaussian DP": "Dong et al. 2022",
        },
        "unit": {
            "generic DP": "Kifer and Machanavajjhala 2011",
            "edge and node privacy": "Hay et al. 2009; McSherry and Mahajan 2010",
            "d-metric DP": "Chatzikokolakis et al. 2013",
            "Blowfish privacy": "He et al. 2014",
            "element level DP": "Asi et al. 2022",
            "distributional privacy": "Zhou et al. 2009",
            "event level and user level DP": "Dwork et al. 2010",
        },
        "scope": {
            "privacy under invariants": "Ashmead et al. 2019; Gong and Meng 2020; "
            "Gao et al. 2022; Dharangutte et al. 2023",
            "conditioned or empirical DP": "Abowd et al. 2013; Charest and Hou 2016",
            "personalized DP": "Ebadi et al. 2015; Jorgensen et al. 2015",
            "individual DP": "Soria-Comas et al. 2017; Feldman and Zrnic 2022",
            "bootstrap DP": "O'Keefe and Charest 2019",
            "stratified DP": "Bun et al. 2022",
            "per-record DP": "Seeman et al. 2023",
            "per-instance DP": "Wang 2018; Redberg and Wang 2021",
        },
        "domain": {
            "DP for network data": "Hay et al. 2009",
            "DP for geospatial data": "Andres et al. 2013",
            "Pufferfish": "Kifer and Machanavajjhala 2014",
            "noiseless privacy": "Bhaskar et al. 2011",
            "privacy under partial knowledge": "Seeman et al. 2022",
            "privacy amplification": "Beimel et al. 2010; Balle et al. 2020; Bun et al. 2022",
        },
    }.items()
    for name, citation in names.items()
)
