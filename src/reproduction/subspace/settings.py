"""The block `subspace` of the configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from reproduction.jobs.settings import (
    OURS,
    PAPER,
    Block,
    ConfigError,
    Different,
    Name,
    Pair,
    Positive,
    Probability,
    State,
    TwoDifferent,
    TwoOrMore,
    Whole,
    check_states,
    read_known_states,
    setting,
)

N_BATCHES = 20  # number of batches of steps; their means give the standard error of a walk

INVARIANTS_BY_QUERY = {"histogram": ("total", "margins", "blocks")} | dict.fromkeys(
    ("ranges", "prefixes", "hierarchy", "margins"), ("total", "total and consistency")
)


class Workload(Block):
    """A linear query and the invariants of its answers."""

    placeholder: ClassVar[str] = "WORKLOAD"
    query: Literal["histogram", "ranges", "prefixes", "hierarchy", "margins"] = setting(
        "The query: `histogram`, `ranges`, `prefixes`, `hierarchy` or `margins`.", OURS
    )
    size: TwoOrMore | Annotated[list[Whole], Field(min_length=1)] = setting(
        "For a histogram under a total, ranges or prefixes, the number of cells. Otherwise a list: "
        "the sides of a table, the sizes of the blocks, or the numbers of children by level.",
        OURS,
    )
    kept: Different[Different[Annotated[int, Field(ge=0)]]] = setting(
        "The margins asked. Each margin is a list of the axes that it keeps, counted from 0.",
        OURS,
        default=None,
    )
    held: Literal["total", "margins", "blocks", "total and consistency"] = setting(
        "The invariants. A histogram allows `total`, `margins` (if it is a table) and `blocks`. "
        "Other queries allow `total` and `total and consistency`. Consistency means all linear "
        "relations between the answers.",
        OURS,
    )

    def check(self, key: str) -> None:
        """Raise ConfigError unless query, size, margins and invariants are compatible."""
        allowed = " or ".join(map(repr, INVARIANTS_BY_QUERY[self.query]))
        if self.held not in INVARIANTS_BY_QUERY[self.query]:
            wanted = f"{allowed} for the query {self.query}"
            raise ConfigError(f"config: {key}.held: must be {wanted}, got {self.held!r}")
        listed = self.query in ("hierarchy", "margins") or self.held in ("margins", "blocks")
        if listed != isinstance(self.size, list):
            wanted = f"{'a list' if listed else 'a whole number'} for this query and invariants"
            raise ConfigError(f"config: {key}.size: must be {wanted}, got {self.size}")
        if (self.query == "margins") != (self.kept is not None):
            raise ConfigError(
                f"config: {key}.kept: must be given for the query margins, and for no other query"
            )
        largest = max((max(axes) for axes in self.kept or []), default=0)
        if self.kept and largest >= len(self.size):
            raise ConfigError(
                f"config: {key}.kept: must name axes from 0 to {len(self.size) - 1}, got {largest}"
            )


class Constant(Block):
    """The constant of Lemma 3.4."""

    epsilons: TwoDifferent[Annotated[float, Field(ge=0.001, le=20)]] = setting(
        "The epsilons of the grid, from 0.001 to 20.", OURS
    )
    deltas: TwoDifferent[Probability] = setting("The deltas of the grid.", OURS)


class Losses(Block):
    """Privacy profiles."""

    cells: Different[Annotated[int, Field(ge=2, le=1000)]] = setting(
        "The numbers of cells, from 2 to 1000.", OURS
    )
    epsilons: TwoDifferent[Annotated[float, Field(ge=0, le=1)]] = setting(
        "The epsilons at which the profiles are evaluated, as multiples of the epsilon of the "
        "noise, from 0 to 1.",
        OURS,
    )
    draws: int = setting(
        "The number of simulated points of each profile of projected noise on three cells or more.",
        OURS,
        ge=100,
    )


class EqualPrivacy(Block):
    """Mechanisms at equal privacy."""

    counties: int = setting(
        "The number of counts under a total, at `subspace.epsilon`.", OURS, ge=2, le=1000
    )
    table: Pair[Annotated[int, Field(ge=2, le=8)]] = setting(
        "The numbers of rows and columns of a table with both margins as invariants.", OURS
    )
    table_epsilon: Positive = setting("The epsilon of that table, in either privacy unit.", OURS)
    draws: int = setting(
        "The number of draws of integer and of continuous noise, for a table with more than 4 rows "
        "and 4 columns. For other tables the errors are exact.",
        OURS,
        ge=100,
    )
    walk_steps: Annotated[int, Field(ge=N_BATCHES, multiple_of=N_BATCHES)] = setting(
        "The number of steps of the walk that estimates the error of K-norm noise, a multiple of "
        f"{N_BATCHES}.",
        OURS,
    )


class Campus(Block):
    """The WiFi example."""

    buildings: Whole = setting(
        "The number of buildings, each with a table of groups and hours.", PAPER
    )
    groups: TwoOrMore = setting("The number of groups of users.", PAPER)
    hours: TwoOrMore = setting("The number of hours.", PAPER)
    repetitions: TwoOrMore = setting("The number of draws of the noise in one experiment.", PAPER)
    experiments: TwoOrMore = setting(
        "The number of simulated experiments. All readings are computed for each.", OURS
    )
    exact_experiments: int = setting(
        "The number of experiments for the two readings whose values are drawn from exact "
        "distributions.",
        OURS,
        ge=100,
    )
    integer_repetitions: TwoOrMore = setting(
        "The number of repetitions with integer noise, by the exact sampler.", OURS
    )


class SubspaceCounties(Block):
    """Projected Laplace noise on counties."""

    state: State = setting("The state of the figure.", PAPER)
    runs: TwoOrMore = setting("The number of releases in the box plot of each county.", PAPER)
    scales: Annotated[Different[Positive], Field(max_length=3)] = setting(
        "The scales of the noise, times epsilon. The definitions of SDP give 2, and the privacy "
        "unit of ISDP gives 1.",
        OURS,
    )
    slope_runs: int = setting(
        "The number of further releases that are regressed on log population.", OURS, ge=100
    )


class SubspaceSettings(Block):
    """Subspace differential privacy."""

    epsilon: Positive = setting("The privacy loss for one replaced record.", PAPER)
    delta: Probability = setting("The delta of all Gaussian noise.", OURS)
    draws: int = setting(
        "The number of simulated noise vectors of each mechanism on each workload.", OURS, ge=100
    )
    workloads: Annotated[dict[Name, Workload], Field(min_length=1)] = setting(
        "The workloads by name. A workload is a linear query with invariants of its answers. "
        "`null` removes a workload."
    )
    constant: Constant = setting(
        "The grid on which the constant of Lemma 3.4 is compared with the exact condition."
    )
    losses: Losses = setting("Privacy profiles of Laplace noise under a total.")
    equal_privacy: EqualPrivacy = setting(
        "All mechanisms at equal privacy, in the units of SDP and of ISDP."
    )
    campus: Campus = setting("The WiFi example (SDP, Section 5.2).")
    counties: SubspaceCounties = setting(
        "Projected Laplace noise on the counties of one state, and of all states of the run (SDP, "
        "Figure 1)."
    )

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError unless the workloads are consistent and the state exists."""
        for name, entry in self.workloads.items():
            entry.check(f"subspace.workloads.{name}")
        check_states(
            "subspace.counties.state", [self.counties.state], read_known_states(config, base)
        )


def describe_workload(entry: Mapping) -> str:
    """Describe the query, the size and the invariants of a workload."""
    size = entry["size"]
    joined = "+" if entry["held"] == "blocks" else " x "
    shown = joined.join(map(str, size)) if isinstance(size, list | tuple) else size
    return f"{entry['query']} of {shown}, {entry['held']} held"
