"""The block `from_the_papers`: values that the papers print and our text copies of them lack.

If the user fills in a value, it replaces settings of the configuration. Some entries replace no
setting, and are only stored with the results for comparison. The papers are *Integer Subspace
Differential Privacy* (ISDP) and *Can Swapping be Differentially Private?* (SWAP).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from reproduction.jobs.settings import (
    Block,
    Different,
    Norm,
    Positive,
    Probability,
    Rates,
    States,
    Whole,
    setting,
)
from reproduction.lattices.settings import Members
from reproduction.swapping.settings import Strata

# maps each part to the block whose settings it replaces
TARGETS = {name: f"lattices.experiments.{name}" for name in ("intersecting", "contingency")}
TARGETS |= {name: name for name in ("counties", "swapping")}
SECTIONS, FIGURES = "ISDP, Sections 5 and E.2 or E.3", "ISDP, Figure 4, or Figures 1 and 6"
COUNTIES, E4 = "ISDP, Sections 5 and E.4", "ISDP, Section E.4"
MAPE = "SWAP, figure of the mean absolute percentage error in 1940"


def _printed(meaning: str, place: str, *replaced: str) -> Any:
    settings = " and ".join(f"`{key}`" for key in replaced)
    use = (
        f"It replaces {settings}."
        if replaced
        else "It replaces no setting, and is stored with the results for comparison."
    )
    return Field(
        default=None,
        description=f"{meaning} {place}. {use}",
        json_schema_extra={"replaced": list(replaced)},
    )


class LatticeInPaper(Block):
    """An experiment on a lattice."""

    epsilon: Positive | None = _printed(
        "The epsilon of the two generalized Laplace mechanisms.",
        SECTIONS,
        "laws.l1.epsilon",
        "laws.l2.epsilon",
    )
    proposal_l1: Probability | None = _printed(
        "The parameter of the proposal for the l1 norm.", SECTIONS, "laws.l1.proposal.paper"
    )
    proposal_l2: Probability | None = _printed(
        "The parameter of the proposal for the l2 norm.", SECTIONS, "laws.l2.proposal.paper"
    )
    gaussian_sigma: Positive | None = _printed(
        "The sigma of the Gaussian mechanism that corresponds to this epsilon.",
        "ISDP, Definition 13 and Theorem 14",
        "laws.gaussian.sigma",
    )
    lags_l1: Different[Whole] | None = _printed("The lags for the l1 norm.", FIGURES)
    lags_l2: Different[Whole] | None = _printed("The lags for the l2 norm.", FIGURES)
    iterations_l1: Whole | None = _printed(
        "The number of iterations to convergence for the l1 norm.", f"{SECTIONS}, and the figures"
    )
    iterations_l2: Whole | None = _printed(
        "The number of iterations to convergence for the l2 norm.", f"{SECTIONS}, and the figures"
    )


class IntersectingInPaper(LatticeInPaper):
    """Intersecting constraints."""

    constraints: Members | None = _printed(
        "The constraints by name, each with the list of its records, counted from 1.",
        "ISDP, Figure 3 and Section E.2",
        "constraints",
    )


class CountiesInPaper(Block):
    """The county experiment."""

    epsilon: Positive | None = _printed(
        "The epsilon. Our value is computed from the budget that SDP prints.", COUNTIES, "epsilon"
    )
    norm: Norm | None = _printed("The norm.", COUNTIES, "norm")
    states: States | None = _printed(
        "The codes of the eleven states with a significant slope.",
        "ISDP, Figures 2 and 8",
        "states",
    )
    proposal: Probability | None = _printed("The parameter of the proposal.", E4, "proposal")
    overdispersed_epsilon: Positive | None = _printed(
        "The epsilon of the over-dispersed starts.", E4, "overdispersed.epsilon"
    )
    overdispersed_iterations: Whole | None = _printed(
        "The number of iterations that give these starts.", E4, "overdispersed.sweeps"
    )
    burn_in: Whole | None = _printed("The number of iterations of burn-in.", E4, "burn_in")
    thin: Whole | None = _printed(
        "The number of iterations per kept draw, which is 100 divided by the printed percentage.",
        "ISDP, Section 5, at Figure 2",
        "thin",
    )
    rhat: Positive | None = _printed("The upper limit of the R-hat of all counties.", E4)


class SwappingInPaper(Block):
    """Permutation swapping."""

    rates: Rates | None = _printed("The swap rates, in increasing order.", MAPE, "rates")
    sizes: Strata | None = _printed(
        "The sizes of the largest stratum, with one size for each curve.",
        "SWAP, figure of the conversion between swap rate and privacy loss",
        "drawn",
    )
    mape_medians: list[Positive] | None = _printed(
        "The median error at each rate, in percent.", MAPE
    )


def _part(title: str, name: str) -> Any:
    return setting(f"{title} The replaced settings are those of `{TARGETS[name]}`.", default=None)


class FromThePapers(Block):
    """Values that our text copies of the papers lack."""

    intersecting: IntersectingInPaper = _part(
        "Intersecting constraints (ISDP, Sections 5 and E.2).", "intersecting"
    )
    contingency: LatticeInPaper = _part(
        "Delinquent children (ISDP, Sections 5 and E.3).", "contingency"
    )
    counties: CountiesInPaper = _part(
        "The county experiment (ISDP, Sections 5 and E.4).", "counties"
    )
    swapping: SwappingInPaper = _part("Permutation swapping (SWAP).", "swapping")


def select_filled(block: Mapping[str, Mapping]) -> dict[str, dict]:
    """Select the entries of a valid block that are not null."""
    kept: dict[str, dict] = {}
    for part, entries in block.items():
        if given := {key: value for key, value in entries.items() if value is not None}:
            kept[part] = given
    return kept


def list_replacements(block: Mapping[str, Mapping]) -> Iterator[tuple[str, Any]]:
    """Yield the dotted key and the new value of each setting that a valid block replaces."""
    for part, entries in select_filled(block).items():
        fields = FromThePapers.model_fields[part].annotation.model_fields
        for key, value in entries.items():
            for name in fields[key].json_schema_extra["replaced"]:
                yield f"{TARGETS[part]}.{name}", value
