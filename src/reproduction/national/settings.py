"""What the schema cannot tell of the settings of the national runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reproduction.running.config import check_states, column


def states_of(national: Mapping, published: Path) -> list[str]:
    """List the states that are run, in the order of the published counts."""
    known = column(published, "usps")
    return [state for state in known if national["states"] == "all" or state in national["states"]]


def check(national: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless the states are there."""
    if national["states"] != "all":
        known = column(base / config["data"]["published"], "usps")
        check_states("national.states", national["states"], known)
