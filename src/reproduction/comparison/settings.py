"""What the schema cannot tell of the settings of the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reproduction.running.config import ConfigError, check_states, column

# The parameter that sets the budget of each system, by family. Snakemake reads it at every start,
# and would take a second and a half to load the systems for it.
PARAMETERS = {
    "noise": ("epsilon", "rho", "epsilon", "epsilon", "rho"),
    "conditioned": ("epsilon",),
    "topdown": ("epsilon", "rho"),
    "swapping": ("rate",),
}
FAMILIES = tuple(PARAMETERS)


def check(comparison: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless the states are there and the budgets shown are among those run."""
    known = column(base / config["data"]["published"], "usps")
    if comparison["states"] != "all":
        check_states("comparison.states", comparison["states"], known)
        known = comparison["states"]
    check_states("comparison.swapped", comparison["swapped"], known)
    for parameter in ("epsilon", "rate"):
        value, run = comparison["shown"][parameter], comparison[f"{parameter}s"]
        if value not in run:
            raise ConfigError(
                f"config: comparison.shown.{parameter}: {value} is not among comparison."
                f"{parameter}s: {', '.join(map(str, run))}"
            )
    if "published" not in comparison["rhos"]:
        raise ConfigError(
            "config: comparison.rhos: 'published' may not be left out: figures show that budget, "
            "beside the Bureau's own file"
        )
