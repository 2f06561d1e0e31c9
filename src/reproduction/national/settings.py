"""What the schema cannot tell of the settings of the national runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from reproduction.comparison.settings import PARAMETERS
from reproduction.running.config import check_states, column

TOGETHER = ("topdown",)  # families whose release of one state depends on all others


def states_of(national: Mapping, published: Path) -> list[str]:
    """List the states that are run, in the order of the published counts."""
    known = column(published, "usps")
    return [state for state in known if national["states"] == "all" or state in national["states"]]


def batches(every: Sequence, size: int) -> list[list]:
    """Cut a list into jobs of so many, in its order."""
    return [list(every[first : first + size]) for first in range(0, len(every), size)]


def jobs_of(national: Mapping, states: Sequence[str]) -> dict[str, int]:
    """Count the jobs of each family: batches of `reproduction.national.releases.releases`."""
    found = {}
    for family, parameters in PARAMETERS.items():
        budgets = sum(len(national[f"{parameter}s"]) for parameter in parameters)
        releases = budgets * (1 if family in TOGETHER else len(states))
        found[family] = math.ceil(releases / national["batch"][family])
    return found


def check(national: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless the states are there."""
    if national["states"] != "all":
        known = column(base / config["data"]["published"], "usps")
        check_states("national.states", national["states"], known)
