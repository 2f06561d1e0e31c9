"""The scenarios of a sweep: every combination of what its lists hold."""

import re
from itertools import product
from pathlib import Path

from reproduction.running.config import local_file

# of the counties' settings, those that a scenario draws and describes noise with
OWN = (
    *("states", "epsilon", "norm", "chains", "draws", "burn_in", "thin"),
    *("basis", "acceptance", "proposal", "overdispersed"),
)


def scenarios_of(config: dict) -> dict[str, dict]:
    """Give the settings of each scenario, by the name of its folder.

    The chains' starts, and their jumps where the noise is larger, are scaled with epsilon: one
    setting of the walk would hardly move at a small epsilon.

    Parameters
    ----------
    config : dict
        Checked; without a sweep there are no scenarios.

    Returns
    -------
    dict from str to dict
        Each is a config of its own: seed, data and counties.
    """
    if "sweep" not in config:
        return {}
    sweep, counties = config["sweep"], {key: config["counties"][key] for key in OWN}
    wide, jump = counties["overdispersed"], counties["proposal"]
    found = {}
    for states, norm, epsilon, vintage in product(
        state_groups(sweep), sweep["norms"], sweep["epsilons"], vintages_of(config)
    ):
        ratio = epsilon / counties["epsilon"]
        found[f"{'-'.join(states)}_{norm}_{epsilon:.12g}_{vintage}"] = {
            "seed": config["seed"],
            "data": {"vintage": vintage},
            "counties": counties
            | {
                "states": states,
                "norm": norm,
                "epsilon": epsilon,
                "proposal": max(min(jump, 0.5), jump**ratio),
                "overdispersed": wide | {"epsilon": wide["epsilon"] * ratio},
            },
        }
    return found


def state_groups(sweep: dict) -> list[list[str]]:
    """Give the lists of states that a sweep compares: one list counts as a list of one."""
    states = sweep["states"]
    return states if isinstance(states[0], list) else [states]


def vintages_of(config: dict) -> list[str]:
    """Give the vintages of the sweep; the config's own where the sweep names none."""
    return config["sweep"].get("vintages", [config["data"]["vintage"]])


def file_of(config: dict, vintage: str) -> list[str]:
    """Give the local file of a vintage, in a list that is empty where there is none.

    A file goes by the eight digits of its name; the config's own file may have any name if the
    sweep has a single vintage.
    """
    own = local_file(config)
    files = [*config["sweep"].get("files", []), *([own] if own else [])]
    for file in files:
        if vintage in re.findall("[0-9]{8}", Path(file).name):
            return [file]
    return [own] if own and len(vintages_of(config)) == 1 else []


def unfinished(folder: Path, scenarios: dict[str, dict]) -> dict[str, str]:
    """Find each scenario that has no table yet, with the reason that its logs give.

    Parameters
    ----------
    folder : Path
        The sweep's.
    scenarios : dict
        From `scenarios_of`.
    """
    return {
        name: _reason(folder, name, settings["data"]["vintage"])
        for name, settings in scenarios.items()
        if not (folder / name / "tables/scenario.csv").is_file()
    }


def _reason(folder: Path, name: str, vintage: str) -> str:
    logs = [*(folder / name).glob("logs/*.log"), *(folder / "data" / vintage).glob("*.log")]
    for log in logs:
        for line in log.read_text().splitlines():
            if " ERROR " in line:
                return line.split(" ERROR ", 1)[1]
    return "not done"
