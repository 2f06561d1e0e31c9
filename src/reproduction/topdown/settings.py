"""What the schema cannot tell of the settings of TopDown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reproduction.running.config import ConfigError, check_states, column

# what is measured of each run; nodes are of TopDown's alone
KINDS = ("bias", "margins", "slopes", "summary", "counties", "fingerprint", "sizes", "nodes")
RULE = "identity 4"  # what all other configurations are set beside


def family(name: str) -> str:
    """First word of a configuration's name: those of one family run in one job."""
    return name.replace(",", " ").split()[0]


def families(runs: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Group configurations, and how often each is run, by their families."""
    found: dict[str, dict[str, int]] = {}
    for name, times in runs.items():
        found.setdefault(family(name), {})[name] = times
    return found


def leave_out(topdown: dict) -> None:
    """Drop configurations that a user set to null."""
    topdown["runs"] = {name: times for name, times in topdown["runs"].items() if times is not None}


def check(topdown: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless the files and states are there, and the rule is run."""
    for key in ("histogram", "group_quarters"):
        if not (base / topdown[key]).is_file():
            raise ConfigError(f"config: topdown.{key}: there is no file {topdown[key]}")
    if RULE not in topdown["runs"]:
        raise ConfigError(
            f"config: topdown.runs: {RULE!r} may not be left out: the others are set beside it"
        )
    known = column(base / config["data"]["published"], "usps")
    check_states("topdown.shown", [topdown["shown"]], known)
    if topdown["implied"]["states"] != "all":
        check_states("topdown.implied.states", topdown["implied"]["states"], known)
