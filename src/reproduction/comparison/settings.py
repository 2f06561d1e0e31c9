"""The block `comparison` of the configuration."""

from pathlib import Path
from typing import Any

from reproduction.jobs.settings import (
    OURS,
    AllOrStates,
    Block,
    ConfigError,
    Epsilons,
    Rates,
    Rhos,
    States,
    Whole,
    check_states,
    read_known_states,
    setting,
)

# The budget parameter of each system, by family. This module does not import the systems, because
# Snakemake loads it at every start and the import takes 1.5 seconds.
PARAMETERS = {
    "noise": ("epsilon", "rho", "epsilon", "epsilon", "rho"),
    "nested": ("rho", "rho"),
    "conditioned": ("epsilon",),
    "topdown": ("epsilon", "rho"),
    "swapping": ("rate",),
}
FAMILIES = tuple(PARAMETERS)


class Shown(Block):
    """Budgets of the figures."""

    epsilon: float = setting("The epsilon of the systems with pure differential privacy.", OURS)
    rate: float = setting("The swap rate.", OURS)


class ComparisonSettings(Block):
    """Every system on the published counts."""

    states: AllOrStates = setting(
        "The states whose counties are released, `all` or a list. For TopDown, the nation consists "
        "of these states.",
        OURS,
    )
    epsilons: Epsilons = setting(
        "The budgets of the systems with pure differential privacy, for one person.", OURS
    )
    rhos: Rhos = setting(
        "The budgets of the systems with zero-concentrated differential privacy, for one person. "
        "`published` is the part of the Bureau's budget of 8 June 2021 for these levels and "
        "queries.",
        OURS,
    )
    rates: Rates = setting("The swap rates.", OURS)
    swapped: States = setting(
        "The states in which records are swapped, and in which the errors of all systems are "
        "measured a second time.",
        OURS,
    )
    runs: Whole = setting("The number of releases of each system at each budget.", OURS)
    shown: Shown = setting("The budgets of the figures of bias and of shares.")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError unless the states exist and the budgets shown are among those run."""
        known = read_known_states(config, base)
        if self.states != "all":
            check_states("comparison.states", self.states, known)
            known = self.states
        check_states("comparison.swapped", self.swapped, known)
        for parameter in ("epsilon", "rate"):
            value, run = getattr(self.shown, parameter), getattr(self, f"{parameter}s")
            if value not in run:
                raise ConfigError(
                    f"config: comparison.shown.{parameter}: must be one of comparison."
                    f"{parameter}s ({', '.join(f'{each:g}' for each in run)}), got {value:g}"
                )
        if "published" not in self.rhos:
            raise ConfigError(
                "config: comparison.rhos: must contain 'published', the budget of the figures, "
                f"got {self.rhos}"
            )
