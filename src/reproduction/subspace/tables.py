"""Tables of the study by subject, each function those of one rule.

The seed is the run's. The other arguments are blocks of the configuration's block `subspace`, and
the tables that the rule reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd

from isdp.streams import stream
from reproduction.data.published import counties_of
from reproduction.subspace import guarantees, wifi
from reproduction.subspace.checks import check_table
from reproduction.subspace.counties import county_noise, run_table, state_table
from reproduction.subspace.equal_privacy import margins_table, order_table, total_table
from reproduction.subspace.workloads import (
    error_table,
    formula_table,
    framework_table,
    near_optimal_table,
    workload_table,
)

DISTANCES = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)  # in scales of the noise
FAILING = (0.01, 0.02, 0.05, 0.1, 0.192, 0.5, 0.9, 1, 2, 4, 8)  # epsilons

Tables = dict[str, pd.DataFrame]


def error_tables(seed: int, workloads: Mapping, epsilon: float, delta: float, draws: int) -> Tables:
    """Compute the errors of all mechanisms by workload, and check formulas and propositions."""
    sizes = workload_table(workloads)
    errors = error_table(stream(seed, "subspace", "errors"), workloads, epsilon, delta, draws)
    return {
        "workloads": sizes,
        "errors": errors,
        "formulas": formula_table(errors, sizes),
        "frameworks": framework_table(errors, sizes),
        "near_optimal": near_optimal_table(errors, sizes, delta),
        "checks": check_table(stream(seed, "subspace", "checks"), epsilon, delta, draws),
    }


def guarantee_tables(
    seed: int, workloads: Mapping, epsilon: float, constant: Mapping, losses: Mapping
) -> Tables:
    """Compute what the mechanisms guarantee."""
    attained = [guarantees.attained_loss(cells, epsilon, DISTANCES) for cells in losses["cells"]]
    return {
        "constant": guarantees.constant_table(**constant),
        "failing": guarantees.failing_table(FAILING),
        "losses": guarantees.pure_loss_table(workloads, epsilon),
        "attained": pd.concat(attained, ignore_index=True),
        "profiles": guarantees.profile_table(stream(seed, "subspace", "profiles"), **losses),
    }


def equal_privacy_tables(seed: int, epsilon: float, delta: float, equal_privacy: Mapping) -> Tables:
    """Compare all mechanisms at equal privacy, in the privacy units of two papers."""
    counties, (rows, columns) = equal_privacy["counties"], equal_privacy["table"]
    margins = margins_table(
        stream(seed, "subspace", "equal privacy"),
        (rows, columns),
        equal_privacy["table_epsilon"],
        delta,
        equal_privacy["draws"],
        equal_privacy["walk_steps"],
    )
    settings = {
        f"{counties} counts under their total": total_table(counties, epsilon, delta),
        f"{rows} x {columns} table under both margins": margins,
    }
    orders = {name: order_table(table) for name, table in settings.items()}
    return {"equal_privacy": _named(settings, ["setting"]), "orders": _named(orders, ["setting"])}


def campus_tables(seed: int, campus: Mapping) -> Tables:
    """Simulate the WiFi example, read its printed numbers in every way, and add integer noise."""
    sizes = wifi.Campus(campus["buildings"], campus["groups"], campus["hours"])
    streams = partial(stream, seed, "campus")
    count = campus["repetitions"]
    return {
        "campus_constraints": wifi.constraint_table(sizes),
        "campus_laws": wifi.exact_law_table(
            streams("laws"), sizes, count, campus["exact_experiments"]
        ),
        "campus": wifi.reading_table(streams("readings"), sizes, count, campus["experiments"]),
        "campus_integer": wifi.integer_table(
            streams("integer"), sizes, 1.0, campus["integer_repetitions"]
        ),
    }


def county_tables(
    seed: int, epsilon: float, counties: Mapping, population: pd.DataFrame, states: pd.DataFrame
) -> Tables:
    """Add projected Laplace noise to the counties of the figure's state and all states of the run.

    Each state has its own stream. `population` is the table of all counties.
    """
    tables, shown = {}, counties["state"]
    for state in dict.fromkeys([shown, *states["state"]]):
        place = counties_of(population, state)
        runs_rng, slopes_rng = stream(seed, "subspace counties", state).spawn(2)
        noise = {
            scale: county_noise(runs_rng, len(place), epsilon, counties["runs"], scale)
            for scale in counties["scales"]
        }
        table = state_table(slopes_rng, place, noise, epsilon, counties["slope_runs"])
        tables[state, state == shown] = table
        if state == shown:
            boxes = run_table(place, noise)
    return {"counties": _named(tables, ["state", "shown"]), "boxes": boxes}


def _named(tables: Mapping, columns: list[str]) -> pd.DataFrame:
    """Concatenate tables; the first columns have the keys."""
    return pd.concat(tables, names=columns).reset_index(columns).reset_index(drop=True)
