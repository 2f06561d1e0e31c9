"""List the scenarios of a sweep: all combinations of the values in its lists."""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pandas as pd

from reproduction.jobs.settings import ConfigError, find_local_file

SCENARIO_COLUMNS = ("states", "norm", "epsilon", "vintage")
# keys of the block `counties` that the Markov chains use
WALK_KEYS = (
    *("epsilon", "norm", "chains", "draws", "burn_in", "thin"),
    *("basis", "acceptance", "proposal", "overdispersed"),
)


def list_scenarios(config: Mapping) -> pd.DataFrame:
    """List the scenarios of a sweep, one per row.

    All values are strings, because they are parts of the names of folders. The states of a scenario
    are joined by hyphens. A configuration without a sweep gives no rows.
    """
    rows = []
    if "sweep" in config:
        sweep = config["sweep"]
        groups = ["-".join(states) for states in list_state_groups(sweep)]
        epsilons = [f"{epsilon:.12g}" for epsilon in sweep["epsilons"]]
        rows = list(product(groups, sweep["norms"], epsilons, list_vintages(config)))
    return pd.DataFrame(rows, columns=SCENARIO_COLUMNS, dtype="str")


def select_scenario(config: Mapping, scenario: Mapping[str, str]) -> dict:
    """Return the settings of one scenario, a row of `list_scenarios`: seed, data and counties.

    The epsilon of the over-dispersed starts is proportional to the scenario's epsilon. At smaller
    epsilons the proposal is wider, because short jumps would explore the wider noise slowly.
    """
    counties = select_walk(config)
    wide, proposal = counties["overdispersed"], counties["proposal"]
    ratio = float(scenario["epsilon"]) / counties["epsilon"]
    own = {
        "norm": scenario["norm"],
        "epsilon": float(scenario["epsilon"]),
        "proposal": max(min(proposal, 0.5), proposal**ratio),
        "overdispersed": wide | {"epsilon": wide["epsilon"] * ratio},
    }
    data = {"vintage": scenario["vintage"]}
    states = {"states": scenario["states"].split("-")}
    return {"seed": config["seed"], "data": data, "counties": states | counties | own}


def select_walk(config: Mapping) -> dict:
    """Select the settings of the Markov chains from a configuration or a scenario."""
    return {key: config["counties"][key] for key in WALK_KEYS}


def list_comparison_files(sweep: str) -> list[str]:
    """List the files that compare the scenarios of a sweep.

    Raises ConfigError if `sweep` is empty, which means that the configuration has no sweep.
    """
    if not sweep:
        raise ConfigError("config: sweep: missing. Add --configfile config/sweep.yaml.")
    return [f"results/figures/sweep_{sweep}.svg", f"results/tables/sweep_{sweep}.html"]


def list_state_groups(sweep: Mapping) -> list[list[str]]:
    """List the groups of states that a sweep compares. A list of states is one group."""
    states = sweep["states"]
    return states if isinstance(states[0], list) else [states]


def list_vintages(config: Mapping) -> list[str]:
    """List the vintages of a sweep. The default is the vintage of the configuration."""
    return config["sweep"].get("vintages", [config["data"]["vintage"]])


def find_local_files(config: Mapping, vintage: str) -> list[str]:
    """Return a list with the local file of a vintage, or an empty list if there is no such file.

    Eight digits in the name of a file give its vintage. If the sweep has only one vintage, the file
    of the configuration may have any name.
    """
    own = find_local_file(config)
    files = [*config["sweep"].get("files", []), *([own] if own else [])]
    named = [file for file in files if vintage in re.findall("[0-9]{8}", Path(file).name)]
    return named[:1] or files[-1:] * (own is not None and len(list_vintages(config)) == 1)
