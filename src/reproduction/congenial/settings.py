"""What the schema cannot tell of the settings of sex by age."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from isdp.errors import InputError
from isdp.lattice.elimination import solve_for
from reproduction.data.table_p12 import sex_by_age_invariants, table_of
from reproduction.running.config import ConfigError

KEY = "congenial.sex_by_age"


def check(congenial: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless tables, file, cells and rates fit each other."""
    entry = congenial["sex_by_age"]
    for key in ("counts", "printed"):
        try:
            if entry[key] is not None:
                table_of(entry[key])
        except InputError as error:
            raise ConfigError(f"config: {KEY}.{key}: {error}") from None
    if (entry["file"] is None) != (entry["county"] is None):
        raise ConfigError(
            f"config: {KEY}.file and {KEY}.county belong together: give both or neither"
        )
    if entry["file"] is not None and not Path(entry["file"]).is_file():
        raise ConfigError(f"config: {KEY}.file: there is no file {entry['file']}")
    if entry["solved"] is not None:
        try:
            solve_for(sex_by_age_invariants(), [0, 0, 0], [cell - 1 for cell in entry["solved"]])
        except InputError as error:
            raise ConfigError(f"config: {KEY}.solved (cells from 0 here): {error}") from None
    acceptance = entry["acceptance"]
    if len(acceptance["paper"]) != len(acceptance["proposal_epsilons"]):
        raise ConfigError(
            f"config: {KEY}.acceptance.paper: wanted: one number or null for each of the "
            f"{len(acceptance['proposal_epsilons'])} proposal_epsilons"
        )
