"""Tables of the study, by subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from reproduction.subspace import guarantees, wifi, workloads
from reproduction.subspace.checks import check_table
from reproduction.subspace.equal_privacy import margins_table, order_table, total_table

DISTANCES = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)  # in scales of the noise
FAILING = (0.01, 0.02, 0.05, 0.1, 0.192, 0.5, 0.9, 1, 2, 4, 8)  # epsilons
SECONDS = ["set_up_seconds", "draw_seconds"]

Streams = Callable[[str], np.random.Generator]  # a generator for each name


def error_tables(
    streams: Streams, entries: Mapping[str, Mapping], epsilon: float, delta: float, draws: int
) -> dict[str, pd.DataFrame]:
    """Compute the errors of all mechanisms on all workloads, and check formulas and propositions.

    Parameters
    ----------
    streams : callable
    entries : mapping
        The workloads of the config.
    epsilon, delta : float
    draws : int
        Number of simulated noise vectors of each mechanism on each workload.
    """
    sizes = workloads.workload_table(entries)
    errors = workloads.error_table(streams("errors"), entries, epsilon, delta, draws)
    return {
        "workloads": sizes,
        "errors": errors,
        "formulas": workloads.formula_table(errors, sizes),
        "frameworks": workloads.framework_table(errors, sizes),
        "near_optimal": workloads.near_optimal_table(errors, sizes, delta),
        "checks": check_table(streams("checks"), epsilon, delta, draws),
    }


def guarantee_tables(
    streams: Streams, entries: Mapping[str, Mapping], epsilon: float, constant, losses
) -> dict[str, pd.DataFrame]:
    """Compute what the mechanisms guarantee.

    Parameters
    ----------
    streams : callable
    entries : mapping
        The workloads of the config.
    epsilon : float
    constant, losses : mapping
        The blocks `constant` and `losses` of the config.
    """
    attained = [guarantees.attained_loss(cells, epsilon, DISTANCES) for cells in losses["cells"]]
    return {
        "constant": guarantees.constant_table(**constant),
        "failing": guarantees.failing_table(FAILING),
        "losses": guarantees.pure_loss_table(entries, epsilon),
        "attained": pd.concat(attained, ignore_index=True),
        "profiles": guarantees.profile_table(
            streams("profiles"), losses["cells"], losses["epsilons"], losses["draws"]
        ),
    }


def equal_privacy_tables(
    streams: Streams, epsilon: float, delta: float, equal: Mapping
) -> dict[str, pd.DataFrame]:
    """Compare all mechanisms at equal privacy, in the units of two papers.

    Parameters
    ----------
    streams : callable
    epsilon, delta : float
    equal : mapping
        The block `equal_privacy` of the config.
    """
    shape = equal["table"]
    settings = {
        f"{equal['counties']} counts under their total": total_table(
            equal["counties"], epsilon, delta
        ),
        f"{shape[0]} x {shape[1]} table under both margins": margins_table(
            streams("equal privacy"),
            tuple(shape),
            equal["table_epsilon"],
            delta,
            equal["draws"],
            equal["walk_steps"],
        ),
    }
    orders = {name: order_table(table) for name, table in settings.items()}
    return {"equal_privacy": _concatenated(settings), "orders": _concatenated(orders)}


def campus_tables(streams: Streams, settings: Mapping) -> dict[str, pd.DataFrame]:
    """Simulate the WiFi example, read its printed numbers in every way, and add integer noise.

    Parameters
    ----------
    streams : callable
    settings : mapping
        The block `campus` of the config.
    """
    campus = wifi.Campus(settings["buildings"], settings["groups"], settings["hours"])
    count = settings["repetitions"]
    integer = wifi.integer_table(streams("integer"), campus, 1.0, settings["integer_repetitions"])
    return {
        "campus_constraints": wifi.constraint_table(campus),
        "campus_laws": wifi.exact_law_table(
            streams("laws"), campus, count, settings["exact_experiments"]
        ),
        "campus": wifi.reading_table(streams("readings"), campus, count, settings["experiments"]),
        "campus_integer": integer.drop(columns=SECONDS),
        "speed": integer[["sampler", "tables", *SECONDS]],
    }


def _concatenated(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Concatenate the tables of several settings; the first column names the setting."""
    return pd.concat(tables, names=["setting"]).reset_index("setting").reset_index(drop=True)
