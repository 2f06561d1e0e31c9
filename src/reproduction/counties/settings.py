"""The blocks `counties` and `sweep` of the configuration."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

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
    SweepName,
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
    """The runs that give the starts of the chains."""

    epsilon: Positive = setting(
        "The epsilon of these runs, which must be less than `counties.epsilon`.", OURS
    )
    sweeps: Whole = setting("The length of these runs in sweeps.", OURS)


class Projection(Block):
    """Projected discrete Laplace noise."""

    simulations: int = setting(
        "The number of simulated noise vectors for each state.", PAPER, ge=10
    )
    checked: Whole = setting(
        "The number of simulated vectors that HiGHS projects by a linear and an integer programme. "
        "The other vectors are corrected in the county that HiGHS corrects.",
        OURS,
    )


class Truncation(Block):
    """Truncation at zero."""

    epsilons: TwoDifferent[ShownEpsilon] = setting(
        "The epsilons, from 0.0001 to 20, for which the effect of truncation is computed.", OURS
    )


class CountiesSettings(Block):
    """The county experiment."""

    states: Literal["paper"] | States = setting(
        "The states to run: `paper`, or a list such as `[IL, TX]`. `paper` selects the states by "
        "the paper's rule for the paper's vintage of the demonstration data, and "
        "`counties.stand_in_states` for any other vintage.",
        PAPER,
    )
    stand_in_states: States = setting(
        "The states to run if the paper's rule cannot be applied.", OURS
    )
    epsilon: Positive = setting("The privacy loss per unit of the norm, not per person.", PAPER)
    norm: Norm = setting("The norm: `l1` or `l2` (not squared).", INFERRED)
    chains: Chains = setting(
        "The number of independent Markov chains for each state, from 2 to 100.", PAPER
    )
    draws: int = setting(
        "The number of draws kept from each chain. The paper shows 1000 draws in total.",
        OURS,
        ge=10,
    )
    burn_in: int = setting("The number of sweeps that each chain discards first.", OURS, ge=0)
    basis: Basis = setting(
        "The basis of the jumps: `smith` (from the Smith normal form) or `lll` (LLL-reduced).",
        PAPER,
    )
    acceptance: Acceptance = setting(
        "The acceptance of jumps: `coordinate` accepts or rejects the jump along each basis vector "
        "separately. `joint`, as in the paper, accepts or rejects the whole jump.",
        OURS,
    )
    proposal: Probability = setting(
        "The parameter a, between 0 and 1, of the discrete Laplace distribution of jump lengths.",
        OURS,
    )
    thin: Whole = setting("The number of sweeps between kept draws.", OURS)
    overdispersed: Overdispersed = setting(
        "The runs that give the starts of the chains: the same walk at a smaller epsilon."
    )
    projection: Projection = setting(
        "Projected discrete Laplace noise, which is compared with the noise of the counties (ISDP, "
        "Section E.4)."
    )
    truncation: Truncation = setting("Truncation of county counts at zero (ISDP, Section E.4).")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError if a state does not exist or the starts are not over-dispersed."""
        known = read_known_states(config, base)
        if self.states != "paper":
            check_states("counties.states", self.states, known)
        check_states("counties.stand_in_states", self.stand_in_states, known)
        if self.overdispersed.epsilon >= self.epsilon:
            raise ConfigError(
                f"config: counties.overdispersed.epsilon: must be less than counties.epsilon "
                f"({self.epsilon:g}), got {self.overdispersed.epsilon:g}. Reduce it, so that the "
                f"starts are over-dispersed."
            )


def _states_tag(given: Any) -> str:
    nested = isinstance(given, list) and bool(given) and isinstance(given[0], list)
    return "(lists)" if nested else "(list)"


class Sweep(Block):
    """The county experiment with many combinations of settings."""

    name: SweepName = setting("The name of the sweep: lower-case letters, digits and hyphens.")
    epsilons: Different[ShownEpsilon] = setting(
        "The values of `counties.epsilon`, each from 0.0001 to 20."
    )
    norms: Different[Norm] = setting("The values of `counties.norm`.")
    states: Annotated[
        Annotated[States, Tag("(list)")] | Annotated[Different[States], Tag("(lists)")],
        Discriminator(_states_tag),
    ] = setting(
        "A list of states, or a list of lists of states. A single list belongs to every scenario. "
        "Each of several lists has its own scenarios."
    )
    vintages: Different[Vintage] = setting(
        "The values of `data.vintage` (optional). They change only the errors of the Census DAS, "
        "not the noise.",
        default=None,
    )
    files: list[PathText] = setting(
        "Local files of these vintages, each with its vintage in its name (optional).",
        default=None,
    )

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError if a state, a vintage or a file of the sweep does not exist."""
        known = read_known_states(config, base)
        for number, states in enumerate(list_state_groups({"states": self.states})):
            index = "" if states is self.states else f".{number}"
            check_states(f"sweep.states{index}", states, known)
        for position, vintage in enumerate(self.vintages or []):
            check_vintage(f"sweep.vintages.{position}", vintage, base / config.data.ledger)
        for position, file in enumerate(self.files or []):
            check_file(f"sweep.files.{position}", file)
