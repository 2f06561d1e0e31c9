"""The block `counties` of the configuration, and the block `sweep`."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from reproduction.jobs.scenarios import list_state_groups
from reproduction.jobs.settings import (
    INFERRED,
    OURS,
    PAPER,
    Acceptance,
    Basis,
    Block,
    Chains,
    ConfigError,
    Different,
    Norm,
    PathText,
    Positive,
    Probability,
    States,
    TwoDifferent,
    Vintage,
    Whole,
    check_file,
    check_states,
    check_vintage,
    read_known_states,
    setting,
)

ShownEpsilon = Annotated[float, Field(ge=0.0001, le=20)]


class Overdispersed(Block):
    """The starts of the chains."""

    epsilon: Positive = setting("The epsilon of these runs, below `counties.epsilon`.", OURS)
    sweeps: Whole = setting("The length of these runs, in sweeps.", OURS)


class Projection(Block):
    """Projected discrete Laplace noise."""

    simulations: int = setting(
        "The number of simulated noise vectors for each state.", PAPER, ge=10
    )
    checked: Whole = setting(
        "The number of them that HiGHS solves, as a linear and as an integer programme. The "
        "others take the vertex that it chose.",
        OURS,
    )


class Truncation(Block):
    """Truncation at zero."""

    epsilons: TwoDifferent[ShownEpsilon] = setting(
        "The epsilons for which the effect of truncation is shown, from 0.0001 to 20.", OURS
    )


class CountiesSettings(Block):
    """The county experiment."""

    states: Literal["paper"] | States = setting(
        "The states to run. `paper` follows the paper's rule where the vintage is the paper's, and "
        "takes `counties.stand_in_states` elsewhere. A list such as `[IL, TX]` is taken as it is.",
        PAPER,
    )
    stand_in_states: States = setting(
        "The states to run where the paper's rule cannot be applied.", OURS
    )
    epsilon: Positive = setting("The privacy loss per unit of the norm (not per person).", PAPER)
    norm: Norm = setting("The norm, `l1` or `l2` (not squared).", INFERRED)
    chains: Chains = setting(
        "The number of independent Markov chains for each state, from 2 to 100.", PAPER
    )
    draws: int = setting(
        "The number of draws kept from each chain. The paper shows 1000 in all.", OURS, ge=10
    )
    burn_in: int = setting("The number of sweeps that each chain drops first.", OURS, ge=0)
    basis: Basis = setting(
        "The basis of the walk's jumps: `smith` (Smith normal form) or `lll` (LLL-reduced).", PAPER
    )
    acceptance: Acceptance = setting(
        "`coordinate` accepts or rejects the jump along each basis vector separately; `joint` "
        "accepts or rejects the whole jump, as the paper does.",
        OURS,
    )
    proposal: Probability = setting(
        "The parameter a of the double geometric jump lengths, between 0 and 1.", OURS
    )
    thin: Whole = setting("The number of sweeps between kept draws.", OURS)
    overdispersed: Overdispersed = setting(
        "The starts of the chains: runs of the same walk at a smaller epsilon."
    )
    projection: Projection = setting(
        "Projected discrete Laplace noise for comparison (ISDP, Section E.4)."
    )
    truncation: Truncation = setting("Truncation of county counts at zero (ISDP, Section E.4).")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError unless the states exist and the starts are over-dispersed."""
        known = read_known_states(config, base)
        if self.states != "paper":
            check_states("counties.states", self.states, known)
        check_states("counties.stand_in_states", self.stand_in_states, known)
        if self.overdispersed.epsilon >= self.epsilon:
            raise ConfigError(
                f"config: counties.overdispersed.epsilon: must be less than counties.epsilon "
                f"({self.epsilon:g}), got {self.overdispersed.epsilon:g}; "
                f"starts at a larger epsilon are not over-dispersed"
            )


def _check_sweep_name(text: str) -> str:
    if not re.fullmatch("[a-z][a-z0-9-]{0,40}", text):
        raise ValueError("must be small letters, digits and hyphens, a letter first")
    return text


def _kind_of_states(given: Any) -> str:
    several = isinstance(given, list) and bool(given) and isinstance(given[0], list)
    return "(lists)" if several else "(list)"


class Sweep(Block):
    """The county experiment under many settings."""

    name: Annotated[str, AfterValidator(_check_sweep_name)] = setting(
        "The name of the sweep: small letters, digits and hyphens."
    )
    epsilons: Different[ShownEpsilon] = setting(
        "The values of `counties.epsilon`, each from 0.0001 to 20."
    )
    norms: Different[Norm] = setting("The values of `counties.norm`.")
    states: Annotated[
        Annotated[States, Tag("(list)")] | Annotated[Different[States], Tag("(lists)")],
        Discriminator(_kind_of_states),
    ] = setting(
        "A list of states, which are run together, or a list of such lists, each for one scenario."
    )
    vintages: Different[Vintage] = setting(
        "The values of `data.vintage` (may be left out). They change the errors of the Census "
        "Bureau alone, not the noise.",
        default=None,
    )
    files: list[PathText] = setting(
        "Local files for these vintages, each with its vintage in its name (may be left out).",
        default=None,
    )

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError unless the states, vintages and files of the sweep exist."""
        known = read_known_states(config, base)
        for number, states in enumerate(list_state_groups({"states": self.states})):
            several = "" if states is self.states else f".{number}"
            check_states(f"sweep.states{several}", states, known)
        for position, vintage in enumerate(self.vintages or []):
            check_vintage(f"sweep.vintages.{position}", vintage, base / config.data.ledger)
        for position, file in enumerate(self.files or []):
            check_file(f"sweep.files.{position}", file)
