"""The block `national` of the configuration, and the jobs that follow from it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from reproduction.comparison.settings import PARAMETERS
from reproduction.jobs.settings import (
    OURS,
    AllOrStates,
    Block,
    Different,
    Epsilons,
    Pair,
    Rates,
    Rhos,
    Whole,
    check_states,
    read_column,
    read_known_states,
    setting,
)

NATIONAL_FAMILIES = ("topdown",)  # families whose release of one state depends on all others


class Batch(Block):
    """Releases for each job."""

    noise: Whole = setting("The number of releases of noise in one job.", OURS)
    conditioned: Whole = setting("The number of releases of noise without negative counts.", OURS)
    topdown: Whole = setting("The number of releases of TopDown.", OURS)
    swapping: Whole = setting("The number of swapped releases.", OURS)
    blocks: Whole = setting("The number of states of synthetic blocks.", OURS)


class Added(Block):
    """Seconds that are added to a job."""

    local: float = setting("The seconds where Snakemake runs.", OURS, ge=0)
    sent: float = setting("The seconds through Slurm.", OURS, ge=0)


class Cost(Block):
    """Machines and sizes of a run."""

    machines: Different[Pair[Whole]] = setting(
        "Pairs of the number of nodes and the number of cores of each. One node does without "
        "Slurm.",
        OURS,
    )
    times: Different[Annotated[int, Field(ge=1, le=1000)]] = setting(
        "The factors by which the number of jobs is multiplied, as more budgets would do.", OURS
    )
    added: Added = setting("The seconds that the start of a job adds to its own.")


class NationalSettings(Block):
    """All states by all systems."""

    states: AllOrStates = setting("The states that are run, `all` or a list.", OURS)
    epsilons: Epsilons = setting(
        "The budgets of the systems with pure differential privacy, for one person.", OURS
    )
    rhos: Rhos = setting(
        "The budgets of the systems with zero-concentrated differential privacy, for one person; "
        "`published` as for the comparison.",
        OURS,
    )
    rates: Rates = setting("The swap rates.", OURS)
    blocks: Whole = setting(
        "The number of synthetic blocks of all states together, at least 57 for each county.", OURS
    )
    batch: Batch = setting("The number of releases that one job makes, by family of systems.")
    cost: Cost = setting("The estimate of how long the measured jobs take on other machines.")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError unless the states exist."""
        if self.states != "all":
            check_states("national.states", self.states, read_known_states(config, base))


def list_states(national: Mapping, published: Path) -> list[str]:
    """List the states of the run, in the order of the published counts."""
    known = read_column(published, "usps")
    return [state for state in known if national["states"] == "all" or state in national["states"]]


def split_batches(every: Sequence, size: int) -> list[list]:
    """Split a list into parts of a given size, in order."""
    return [list(every[first : first + size]) for first in range(0, len(every), size)]


def count_jobs(national: Mapping, states: Sequence[str]) -> dict[str, int]:
    """Count the jobs of each family: batches of `reproduction.national.releases.list_releases`."""
    found = {}
    for family, parameters in PARAMETERS.items():
        budgets = sum(len(national[f"{parameter}s"]) for parameter in parameters)
        releases = budgets * (1 if family in NATIONAL_FAMILIES else len(states))
        found[family] = math.ceil(releases / national["batch"][family])
    return found
