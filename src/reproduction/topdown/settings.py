"""The block `topdown` of the configuration."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from reproduction.jobs.settings import (
    OURS,
    AllOrStates,
    Block,
    ConfigError,
    PathText,
    Positive,
    State,
    Whole,
    check_file,
    check_states,
    read_known_states,
    setting,
)

# The tables of errors that each job writes.
ERROR_TABLES = ("bias", "margins", "slopes", "summary", "counties", "fingerprint", "sizes")
REFERENCE = "identity 4"  # All other configurations are compared with this one.
CONFIGURATIONS = {
    "identity 1": "The identity query on all cells at three levels, epsilon 1.",
    REFERENCE: "The same query at epsilon 4. This configuration is required.",
    "identity 1, negatives allowed": "The configuration identity 1, with counts below zero.",
    "identity 4, negatives allowed": "The configuration identity 4, with counts below zero.",
    "identity 4, four cells": "The configuration identity 4, on a histogram without races.",
    "identity 1, nothing held": "The configuration identity 1, without the states' totals as "
    "invariants.",
    "identity 4, nothing held": "The configuration identity 4, without the states' totals as "
    "invariants.",
    "slides": "Four queries for each county, epsilon 4, in one pass.",
    "slides, negatives allowed": "The configuration slides, with counts below zero.",
    "slides, total first": "The configuration slides, with a separate first pass for the totals.",
    "production": "The budget of the Bureau's run of 8 June 2021.",
    "production, negatives allowed": "The configuration production, with counts below zero.",
    "production, detail with group quarters": "The configuration production, with an eighth of the "
    "precision of "
    "the detail query.",
}

Losses = Annotated[list[Positive], Field(min_length=1)]
Runs = create_model(
    "Runs",
    __base__=Block,
    __doc__="The number of runs of each configuration of TopDown.",
    **{
        re.sub(r"\W+", "_", name): (Whole, setting(text, OURS, alias=name, default=None))
        for name, text in CONFIGURATIONS.items()
    },
)


class IntegerNoise(Block):
    """Exact integer noise."""

    runs: Whole = setting("The number of releases of all cells.", OURS)
    totals: int = setting("The number of releases of the county totals alone.", OURS, ge=2)


class Naive(Block):
    """Releases of dormitories under the obvious constraints."""

    epsilons: Losses = setting("The privacy losses of the three totals.", OURS)
    draws: int = setting("The number of releases of each confidential table.", OURS, ge=100)


class Cuts(Block):
    """Releases of totals of 28 types of group quarters."""

    regions: Whole = setting("The number of regions. Each region has one to four types.", OURS)
    epsilons: Losses = setting("The privacy losses of the totals by type.", OURS)
    runs: Whole = setting("The number of releases, each with its own regions.", OURS)


class Failsafe(Block):
    """Releases of group quarters without the implied constraints."""

    epsilons: Losses = setting("The privacy losses of a state's totals by type.", OURS)
    runs: Whole = setting("The number of releases of each state.", OURS)


class Implied(Block):
    """Implied constraints."""

    states: AllOrStates = setting(
        "The states whose group quarters are examined, `all` or a list.", OURS
    )
    naive: Naive = setting("Releases of the dormitories under the obvious constraints alone.")
    cuts: Cuts = setting("Totals of 28 types of group quarters in synthetic regions.")
    failsafe: Failsafe = setting("Releases of group quarters without the implied constraints.")


class TopDownSettings(Block):
    """The settings of the study of TopDown."""

    histogram: PathText = setting(
        "The published 2010 counts of every county by race, Hispanic origin and adulthood."
    )
    group_quarters: PathText = setting(
        "The published 2010 counts of every county by type of group quarters."
    )
    runs: Runs = setting("The number of runs of each configuration. `null` leaves one out.")
    integer_noise: IntegerNoise = setting("Exact integer noise for comparison.")
    shown: State = setting("The state whose counties are plotted.", OURS)
    implied: Implied = setting("Implied constraints and the failsafe.")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError if a file or a state is unknown, or the reference is not run."""
        for key in ("histogram", "group_quarters"):
            check_file(f"topdown.{key}", getattr(self, key), base)
        if self.runs.identity_4 is None:
            raise ConfigError(
                f"config: topdown.runs: {REFERENCE!r} is missing. Give it a number of runs: the "
                "other configurations are compared with it."
            )
        known = read_known_states(config, base)
        check_states("topdown.shown", [self.shown], known)
        if self.implied.states != "all":
            check_states("topdown.implied.states", self.implied.states, known)


def group_configurations(runs: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Group the configurations by the first word of their names. Each group is one job."""
    found: dict[str, dict[str, int]] = {}
    for name, times in runs.items():
        found.setdefault(name.replace(",", " ").split()[0], {})[name] = times
    return found
