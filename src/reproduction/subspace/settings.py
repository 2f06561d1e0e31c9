"""What the schema cannot tell of the settings of subspace privacy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reproduction.running.config import ConfigError, check_states, column

BATCHES = 20  # a walk's error comes from the means of so many batches of its steps


def in_words(entry: Mapping) -> str:
    """Say what a workload is: its query, its size, what is held."""
    size = entry["size"]
    joined = "+" if entry["held"] == "blocks" else " x "
    shown = joined.join(map(str, size)) if isinstance(size, list | tuple) else size
    return f"{entry['query']} of {shown}, {entry['held']} held"


def leave_out(subspace: dict) -> None:
    """Drop workloads that a user set to null."""
    entries = subspace["workloads"]
    subspace["workloads"] = {name: entry for name, entry in entries.items() if entry is not None}


def check(subspace: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless margins name axes, the state exists and batches are whole."""
    for name, entry in subspace["workloads"].items():
        for axes in entry.get("kept", []):
            if max(axes) >= len(entry["size"]):
                raise ConfigError(
                    f"config: subspace.workloads.{name}.kept: {max(axes)} will not do; wanted: "
                    f"axes from 0 to {len(entry['size']) - 1}"
                )
    known = column(base / config["data"]["published"], "usps")
    check_states("subspace.counties.state", [subspace["counties"]["state"]], known)
    steps = subspace["equal_privacy"]["walk_steps"]
    if steps % BATCHES:
        raise ConfigError(
            f"config: subspace.equal_privacy.walk_steps: {steps} will not do; wanted: a multiple "
            f"of {BATCHES}"
        )
