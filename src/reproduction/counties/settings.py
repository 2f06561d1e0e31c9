"""What the schema cannot tell of the counties' settings, and of a sweep of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reproduction.running.config import ConfigError, check_states, check_vintage, column
from reproduction.running.scenarios import state_groups


def check(counties: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless the states exist and the starts are over-dispersed."""
    known = column(base / config["data"]["published"], "usps")
    for key in ("states", "stand_in_states"):
        if counties[key] != "paper":
            check_states(f"counties.{key}", counties[key], known)
    if counties["overdispersed"]["epsilon"] >= counties["epsilon"]:
        raise ConfigError(
            f"config: counties.overdispersed.epsilon: must be below counties.epsilon "
            f"({counties['epsilon']}), or the starts are not over-dispersed"
        )
    if "sweep" in config:
        check_sweep(config["sweep"], known, base / config["data"]["ledger"])


def check_sweep(sweep: Mapping, known: list[str], ledger: Path) -> None:
    """Raise ConfigError unless the states, vintages and files of a sweep exist."""
    for number, states in enumerate(state_groups(sweep)):
        several = "" if states is sweep["states"] else f".{number}"
        check_states(f"sweep.states{several}", states, known)
    for position, vintage in enumerate(sweep.get("vintages", [])):
        check_vintage(f"sweep.vintages.{position}", vintage, ledger)
    for position, file in enumerate(sweep.get("files", [])):
        if not Path(file).is_file():
            raise ConfigError(f"config: sweep.files.{position}: there is no file {file}")
