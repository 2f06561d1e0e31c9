"""The parameter space of a sweep: all combinations of the values in its lists."""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pandas as pd

from reproduction.running.settings import ConfigError, find_local_file

SCENARIO_COLUMNS = ("states", "norm", "epsilon", "vintage")
# the counties' settings that the Markov chains need, and those that a scenario needs
WALK_KEYS = (
    *("epsilon", "norm", "chains", "draws", "burn_in", "thin"),
    *("basis", "acceptance", "proposal", "overdispersed"),
)
SCENARIO_KEYS = ("states", *WALK_KEYS)


def list_scenarios(config: Mapping) -> pd.DataFrame:
    """List the scenarios of a sweep, one per row, as text for the names of their folders.

    The states of a scenario are joined by hyphens. Without a sweep there are no rows.
    """
    rows = []
    if "sweep" in config:
        sweep = config["sweep"]
        groups = ["-".join(states) for states in list_state_groups(sweep)]
        epsilons = [f"{epsilon:.12g}" for epsilon in sweep["epsilons"]]
        rows = list(product(groups, sweep["norms"], epsilons, list_vintages(config)))
    return pd.DataFrame(rows, columns=SCENARIO_COLUMNS, dtype="str")


def select_scenario(config: Mapping, scenario: Mapping[str, str]) -> dict:
    """Return the settings of a row of `parameter_space`: seed, data and counties.

    The epsilon of the chains' starts and, for smaller epsilons, the proposal scale with epsilon:
    with one setting the walk would hardly move at a small epsilon.
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
    """Give the settings of the Markov chains of a configuration, or of a scenario."""
    return {key: config["counties"][key] for key in WALK_KEYS}


def list_comparison_files(sweep: str) -> list[str]:
    """Return the files that compare the scenarios of a sweep; refuse a config without one."""
    if not sweep:
        raise ConfigError("the config has no sweep: add --configfile config/sweep.yaml")
    return [f"results/figures/sweep_{sweep}.svg", f"results/tables/sweep_{sweep}.html"]


def list_state_groups(sweep: Mapping) -> list[list[str]]:
    """Return the lists of states that a sweep compares; one list counts as a list of one."""
    states = sweep["states"]
    return states if isinstance(states[0], list) else [states]


def list_vintages(config: Mapping) -> list[str]:
    """Return the vintages of the sweep; by default the configuration's."""
    return config["sweep"].get("vintages", [config["data"]["vintage"]])


def find_local_files(config: Mapping, vintage: str) -> list[str]:
    """Return the local file of a vintage as a list, which is empty if there is none.

    The vintage of a file is the eight digits in its name. If the sweep has only one vintage, the
    configuration's own file may have any name.
    """
    own = find_local_file(config)
    files = [*config["sweep"].get("files", []), *([own] if own else [])]
    named = [file for file in files if vintage in re.findall("[0-9]{8}", Path(file).name)]
    return named[:1] or files[-1:] * (own is not None and len(list_vintages(config)) == 1)
