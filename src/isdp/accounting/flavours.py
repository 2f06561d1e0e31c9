"""Flavours of differential privacy as data, and what may be compared.

A guarantee has five building blocks (Bailie, Gong and Meng, *Can Swapping be Differentially
Private?*): what can be protected (the domain of datasets), to where protection extends (the scope:
which datasets are compared), who is protected (the unit, a distance between datasets), how the
change of the output is measured (the standard, a divergence between laws) and how much protection
there is (the intensity, a budget for each unit). The first four are its flavour. Budgets of
different flavours are different quantities; only a theorem that carries one flavour into the other
makes them comparable, and then it is to be named.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from isdp.accounting.conversions import epsilon_bun_steinke
from isdp.checks import share
from isdp.errors import InputError

FLAVOUR = ("domain", "scope", "unit", "standard")
EVERYTHING = "all datasets"
PURE, RENYI = "MULT", "D_nor"
PERSON, HOUSEHOLD, CELLS = "d_HAM of persons", "d_HAM of households", "l1 distance of tables"


@dataclass(frozen=True)
class BuildingBlocks:
    """One system's guarantee.

    Attributes
    ----------
    domain : str
        What: the datasets X that are possible.
    scope : str
        To where: `EVERYTHING`, or the invariants on which two datasets must agree.
    unit : str
        Who: the distance d_X.
    standard : str
        How: the divergence d_Pr; "MULT" (pure), "MULT^delta" with its delta, or "D_nor", on which
        zCDP with rho is a budget of sqrt(rho).
    intensity : float or None
        How much: the budget for each unit, on the scale of the standard; None where it depends on
        settings, as `note` then says.
    code : str
        The function of ours that computes or verifies it, by its full name; "" for none.
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
        "isdp.accounting.flavours.convert",
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
        "isdp.accounting.flavours.convert",
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
        "isdp.accounting.flavours.convert",
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
        "isdp.swapping.budget.epsilon_bound",
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
        "isdp.exact.release",
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
    """Look a system up by its name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    for one in SYSTEMS:
        if one.name == name:
            return one
    raise InputError(
        f"flavours: no system {name!r}; there are {', '.join(one.name for one in SYSTEMS)}"
    )


def differences(first: BuildingBlocks, second: BuildingBlocks) -> tuple[str, ...]:
    """Names of the building blocks of the flavour in which two guarantees differ."""
    return tuple(name for name in FLAVOUR if getattr(first, name) != getattr(second, name))


def compare(first: BuildingBlocks, second: BuildingBlocks) -> float:
    """Ratio of two budgets of one flavour.

    Returns
    -------
    float
        The first budget over the second.

    Raises
    ------
    InputError
        Naming what differs, where the flavours are not the same, and the theorems that bridge it
        if any does; or if a budget is not a positive number.
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


def compose(first: BuildingBlocks, second: BuildingBlocks) -> BuildingBlocks:
    """Guarantee of two releases of the same data together; only within one flavour.

    Budgets on MULT add up; those on D_nor add up in squares, as rho does. A slack delta has no
    such rule here.

    Raises
    ------
    InputError
        If the flavours differ, a budget is unknown, or the standard has a slack.
    """
    unlike = differences(first, second)
    if unlike:
        raise InputError(
            f"flavours: {first.name!r} and {second.name!r} do not compose: they differ in "
            f"{', '.join(unlike)}"
        )
    if first.standard not in (PURE, RENYI) or None in (first.intensity, second.intensity):
        raise InputError("flavours: only known budgets on MULT or D_nor compose here")
    together = math.hypot if first.standard == RENYI else float.__add__
    return replace(
        first,
        name=f"{first.name} and {second.name}",
        intensity=together(float(first.intensity), float(second.intensity)),
        note="composed",
    )


@dataclass(frozen=True)
class Theorem:
    """A named way from one flavour to another, of the same mechanism.

    Attributes
    ----------
    block : str
        The building block that it changes.
    start : callable
        Whether it applies to a value of that block.
    end : callable
        ``end(blocks, to)`` gives the new budget.
    reaches : callable
        Whether it leads to a value of that block.
    """

    source: str
    block: str
    start: Callable[[str], bool]
    reaches: Callable[[str], bool]
    end: Callable[[BuildingBlocks, str], float | None]


def with_slack(delta: float) -> str:
    """Name of the standard MULT with a slack delta.

    Raises
    ------
    InputError
        If delta is not between 0 and 1.
    """
    share("flavours: delta", delta)
    return f"{PURE}^{delta!r}"


def _slack(standard: str) -> float | None:
    kind, _, delta = standard.partition("^")
    return float(delta) if kind == PURE and delta else None


def _renyi_to_slack(blocks: BuildingBlocks, to: str) -> float | None:
    if blocks.intensity is None:
        return None
    rho = blocks.intensity**2
    return epsilon_bun_steinke(rho, _slack(to)) if rho else 0.0


def _pure_to_renyi(blocks: BuildingBlocks, to: str) -> float | None:
    return None if blocks.intensity is None else blocks.intensity / math.sqrt(2)


def _unchanged(blocks: BuildingBlocks, to: str) -> float | None:
    return blocks.intensity


THEOREMS = {
    "zCDP to approximate": Theorem(
        "Bun and Steinke 2016, Proposition 1.3, for a change of one unit",
        "standard",
        lambda standard: standard == RENYI,
        lambda standard: _slack(standard) is not None,
        _renyi_to_slack,
    ),
    "pure to zCDP": Theorem(
        "Bun and Steinke 2016, Proposition 1.4: epsilon is rho = epsilon^2 / 2",
        "standard",
        lambda standard: standard == PURE,
        lambda standard: standard == RENYI,
        _pure_to_renyi,
    ),
    "a slack only helps": Theorem(
        "the supremum that defines MULT^delta falls in delta, for one unit",
        "standard",
        lambda standard: standard == PURE,
        lambda standard: _slack(standard) is not None,
        _unchanged,
    ),
    "fewer pairs of datasets": Theorem(
        "a bound over all datasets holds for those that agree on invariants",
        "scope",
        lambda scope: scope == EVERYTHING,
        lambda scope: scope != EVERYTHING,
        _unchanged,
    ),
}


def convert(blocks: BuildingBlocks, theorem: str, to: str) -> BuildingBlocks:
    """Say a guarantee in another flavour, by a named theorem.

    Parameters
    ----------
    theorem : str
        A key of `THEOREMS`.
    to : str
        The new value of the building block that the theorem changes.

    Returns
    -------
    BuildingBlocks
        Whose note names the theorem.

    Raises
    ------
    InputError
        If there is no such theorem, or it does not lead from this flavour to that one.

    Examples
    --------
    >>> dhc = system("TopDown, PL 94-171 and DHC")
    >>> round(convert(dhc, "zCDP to approximate", with_slack(1e-10)).intensity, 2)
    52.82
    """
    if theorem not in THEOREMS:
        raise InputError(f"flavours: no theorem {theorem!r}; there are {', '.join(THEOREMS)}")
    bridge = THEOREMS[theorem]
    here = getattr(blocks, bridge.block)
    if not (bridge.start(here) and bridge.reaches(to)):
        raise InputError(
            f"flavours: {theorem!r} does not lead from {bridge.block} {here!r} to {to!r}"
        )
    return replace(
        blocks,
        **{bridge.block: to},
        intensity=bridge.end(blocks, to),
        note=f"by {theorem!r} ({bridge.source})",
    )


def _bridges(unlike: tuple[str, ...], first: BuildingBlocks, second: BuildingBlocks) -> str:
    """Name the theorems that carry one of two flavours into the other, block by block."""
    found = []
    for block in unlike:
        one, other = getattr(first, block), getattr(second, block)
        for name, theorem in THEOREMS.items():
            forth = theorem.start(one) and theorem.reaches(other)
            back = theorem.start(other) and theorem.reaches(one)
            if theorem.block == block and (forth or back):
                found.append(f"{block} by {name!r}")
    missing = [block for block in unlike if not any(f.startswith(block) for f in found)]
    words = f"; there is a theorem for {', '.join(found)}" if found else ""
    return words + (f"; none for {', '.join(missing)}" if missing else "")


@dataclass(frozen=True)
class Cited:
    """A flavour that the slides cite, and the building block that it changes."""

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
