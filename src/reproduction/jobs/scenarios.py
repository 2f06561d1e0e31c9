"""The parameter space of a sweep: all combinations of the values in its lists."""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pandas as pd

from reproduction.jobs.settings import ConfigError, find_local_file

SCENARIO_COLUMNS = ("states", "norm", "epsilon", "vintage")
# settings of the block `counties` for the Markov chains, and for a scenario
WALK_KEYS = (
    *("epsilon", "norm", "chains", "draws", "burn_in", "thin"),
    *("basis", "acceptance", "proposal", "overdispersed"),
)
SCENARIO_KEYS = ("states", *WALK_KEYS)


def list_scenarios(config: Mapping) -> pd.DataFrame:
    """List the scenarios of a sweep, one per row, as text for the names of their folders.

    Hyphens join the states of a scenario. A configuration without a sweep gives no rows.
    """
    rows = []
    if "sweep" in config:
        sweep = config["sweep"]
        groups = ["-".join(states) for states in list_state_groups(sweep)]
        epsilons = [f"{epsilon:.12g}" for epsilon in sweep["epsilons"]]
        rows = list(product(groups, sweep["norms"], epsilons, list_vintages(config)))
    return pd.DataFrame(rows, columns=SCENARIO_COLUMNS, dtype="str")


def select_scenario(config: Mapping, scenario: Mapping[str, str]) -> dict:
    """Return the settings of a row of `list_scenarios`: seed, data and counties.

    The epsilon of the chains' starts is proportional to epsilon, and the proposal widens at smaller
    epsilons, where a fixed proposal would hardly move.
    """
    counties = {key: config["counties"][key] for key in SCENARIO_KEYS}
    wide, proposal = counties["overdispersed"], counties["proposal"]
    ratio = float(scenario["epsilon"]) / counties["epsilon"]
    own = {
        "states": scenario["states"].split("-"),
        "norm": scenario["norm"],
        "epsilon": float(scenario["epsilon"]),
        "proposal": max(min(proposal, 0.5), proposal**ratio),
        "overdispersed": wide | {"epsilon": wide["epsilon"] * ratio},
    }
    data = {"vintage": scenario["vintage"]}
    return {"seed": config["seed"], "data": data, "counties": counties | own}


def select_walk(config: Mapping) -> dict:
    """Select the settings of the Markov chains in a configuration or a scenario."""
    return {key: config["counties"][key] for key in WALK_KEYS}


def list_comparison_files(sweep: str) -> list[str]:
    """List the files that compare a sweep's scenarios; refuse a configuration without a sweep."""
    if not sweep:
        raise ConfigError("config: sweep: missing; add --configfile config/sweep.yaml")
    return [f"results/figures/sweep_{sweep}.svg", f"results/tables/sweep_{sweep}.html"]


def list_state_groups(sweep: Mapping) -> list[list[str]]:
    """List the groups of states that a sweep compares; a single list is one group."""
    states = sweep["states"]
    return states if isinstance(states[0], list) else [states]


def list_vintages(config: Mapping) -> list[str]:
    """List the vintages of the sweep; the default is the vintage of the configuration."""
    return config["sweep"].get("vintages", [config["data"]["vintage"]])


def find_local_files(config: Mapping, vintage: str) -> list[str]:
    """Return the local file of a vintage as a list, which is empty if there is no such file.

    The eight digits in a file's name give its vintage. If the sweep has one vintage only, the file
    of the configuration may have any name.
    """
    own = find_local_file(config)
    files = [*config["sweep"].get("files", []), *([own] if own else [])]
    named = [file for file in files if vintage in re.findall("[0-9]{8}", Path(file).name)]
    return named[:1] or files[-1:] * (own is not None and len(list_vintages(config)) == 1)
