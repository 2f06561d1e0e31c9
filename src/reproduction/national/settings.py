"""The block `national` of the configuration, and the number of jobs that it determines."""

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

# families of systems that release all states together
NATIONAL_FAMILIES = ("topdown", "nested")


class Batch(Block):
    """The number of releases in one job."""

    noise: Whole = setting("The number of releases with noise.", OURS)
    conditioned: Whole = setting(
        "The number of releases with noise conditioned on nonnegative counts.", OURS
    )
    topdown: Whole = setting("The number of TopDown releases.", OURS)
    nested: Whole = setting("The number of releases with nested or crossing noise.", OURS)
    swapping: Whole = setting("The number of swapped releases.", OURS)
    blocks: Whole = setting("The number of states that are released down to blocks.", OURS)


class Added(Block):
    """The start time of a job, in seconds."""

    local: float = setting("The start time on the machine of Snakemake, in seconds.", OURS, ge=0)
    sent: float = setting("The start time through Slurm, in seconds.", OURS, ge=0)


class Cost(Block):
    """The machines and the numbers of jobs for which the run time is computed."""

    machines: Different[Pair[Whole]] = setting(
        "Pairs of the number of nodes and the number of cores per node. A run on one node does not "
        "use Slurm.",
        OURS,
    )
    times: Different[Annotated[int, Field(ge=1, le=1000)]] = setting(
        "The factors by which a longer list of budgets would multiply the number of jobs.",
        OURS,
    )
    added: Added = setting("The time that the start of a job adds to its run time.")


class NationalSettings(Block):
    """Releases of all states by all systems."""

    states: AllOrStates = setting("The states to run: `all`, or a list.", OURS)
    epsilons: Epsilons = setting(
        "The budgets per person of the systems with pure differential privacy.", OURS
    )
    rhos: Rhos = setting(
        "The budgets per person of the systems with zero-concentrated differential privacy. "
        "`published` has the same meaning as in the block `comparison`.",
        OURS,
    )
    rates: Rates = setting("The swap rates.", OURS)
    blocks: Whole = setting(
        "The total number of synthetic blocks of all states. Each county has at least 57.", OURS
    )
    batch: Batch = setting("The number of releases in one job, by family of systems.")
    cost: Cost = setting("The estimate of the run time on other machines.")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError if a state does not exist."""
        if self.states != "all":
            check_states("national.states", self.states, read_known_states(config, base))


def list_states(national: Mapping, published: Path) -> list[str]:
    """List the states to run in the order of the published counts."""
    known = read_column(published, "usps")
    return [state for state in known if national["states"] == "all" or state in national["states"]]


def split_batches(items: Sequence, size: int) -> list[list]:
    """Split a list into consecutive parts of a given size."""
    return [list(items[first : first + size]) for first in range(0, len(items), size)]


def count_jobs(national: Mapping, states: Sequence[str]) -> dict[str, int]:
    """Count the jobs of each family of systems. Each job makes one batch of releases."""
    found = {}
    for family, parameters in PARAMETERS.items():
        budgets = sum(len(national[f"{parameter}s"]) for parameter in parameters)
        releases = budgets * (1 if family in NATIONAL_FAMILIES else len(states))
        found[family] = math.ceil(releases / national["batch"][family])
    return found
