"""The block `nested` of the configuration."""

from pathlib import Path
from typing import Any

from reproduction.jobs.settings import (
    OURS,
    AllOrStates,
    Block,
    ConfigError,
    Rhos,
    Whole,
    check_states,
    read_known_states,
    setting,
)

FAMILIES = ("noise", "topdown")  # Each family is one job.
PUBLISHED = "published"  # The setting `rhos` gives the published budget by this name.


class Runs(Block):
    """The number of releases of each system."""

    noise: Whole = setting("The number of draws of each noise at each budget.", OURS)
    published: Whole = setting(
        "The number of TopDown runs, and of projected draws, at the published budget. If all "
        "states are released, the block `topdown` gives the number of runs with production "
        "settings.",
        OURS,
    )
    others: Whole = setting(
        "The number of TopDown runs, and of projected draws, at each other budget.", OURS
    )


class NestedSettings(Block):
    """Nested and crossing noise, compared with TopDown."""

    states: AllOrStates = setting(
        "The states whose counties are released, `all` or a list. The nation consists of these "
        "states.",
        OURS,
    )
    rhos: Rhos = setting(
        "The budgets, for one person who changes cell. `published` has the same meaning as in the "
        "block `comparison`.",
        OURS,
    )
    runs: Runs = setting("The number of releases of each system.")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError if a state is unknown, or the published budget is not run."""
        if self.states != "all":
            check_states("nested.states", self.states, read_known_states(config, base))
        if PUBLISHED not in self.rhos:
            raise ConfigError(
                f"config: nested.rhos: must contain {PUBLISHED!r}, the budget of the figures, got "
                f"{self.rhos}"
            )


def reads_topdown(config: Any) -> bool:
    """Return True if this study uses the runs with production settings of the study of TopDown."""
    return config["nested"]["states"] == "all" and "production" in config["topdown"]["runs"]
