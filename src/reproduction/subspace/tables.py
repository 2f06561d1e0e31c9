"""Tables of the study, with one function per rule.

`seed` is the seed of the run. The other arguments are settings of the block `subspace`, and tables
that the rule reads.

SDP is *Subspace Differential Privacy*.
"""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from isdp.streams import stream
from reproduction.data.published import select_counties
from reproduction.subspace import guarantees, wifi
from reproduction.subspace.checks import check_all
from reproduction.subspace.counties import compare_state, draw_county_noise, tabulate_runs
from reproduction.subspace.equal_privacy import compare_margins, compare_total, tabulate_orders
from reproduction.subspace.statements import tabulate_statements
from reproduction.subspace.workloads import (
    tabulate_errors,
    tabulate_formulas,
    tabulate_frameworks,
    tabulate_near_optimal,
    tabulate_workloads,
)

DISTANCES = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)  # in units of the scale b of the noise
FAILING_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.192, 0.5, 0.9, 1, 2, 4, 8)

Tables = dict[str, pd.DataFrame]


def compare_errors(
    seed: int, workloads: Mapping, epsilon: float, delta: float, draws: int
) -> Tables:
    """Compute the errors of all mechanisms on all workloads, and check propositions of SDP."""
    sizes = tabulate_workloads(workloads)
    errors = tabulate_errors(stream(seed, "subspace", "errors"), workloads, epsilon, delta, draws)
    return {
        "workloads": sizes,
        "errors": errors,
        "formulas": tabulate_formulas(errors, sizes),
        "frameworks": tabulate_frameworks(errors, sizes),
        "near_optimal": tabulate_near_optimal(errors, sizes, delta),
        "checks": check_all(stream(seed, "subspace", "checks"), epsilon, delta, draws),
    }


def tabulate_guarantees(
    seed: int, workloads: Mapping, epsilon: float, constant: Mapping, losses: Mapping
) -> Tables:
    """Compute the constant, the losses and the profiles of noise, and check statements of SDP."""
    attained = [guarantees.attained_loss(cells, epsilon, DISTANCES) for cells in losses["cells"]]
    return {
        "constant": guarantees.tabulate_constant(**constant),
        "failing": guarantees.tabulate_failing(FAILING_EPSILONS),
        "losses": guarantees.tabulate_pure_losses(workloads, epsilon),
        "attained": pd.concat(attained, ignore_index=True),
        "profiles": guarantees.compute_profiles(stream(seed, "subspace", "profiles"), **losses),
        "statements": tabulate_statements(stream(seed, "subspace", "statements")),
    }


def tabulate_equal_privacy(
    seed: int, epsilon: float, delta: float, equal_privacy: Mapping
) -> Tables:
    """Compare all mechanisms at equal privacy, in the privacy units of both papers."""
    counties, (rows, columns) = equal_privacy["counties"], equal_privacy["table"]
    margins = compare_margins(
        stream(seed, "subspace", "equal privacy"),
        (rows, columns),
        equal_privacy["table_epsilon"],
        delta,
        equal_privacy["draws"],
        equal_privacy["walk_steps"],
    )
    settings = {
        f"{counties} counts under their total": compare_total(counties, epsilon, delta),
        f"{rows} x {columns} table under both margins": margins,
    }
    orders = {name: tabulate_orders(table) for name, table in settings.items()}
    return {"equal_privacy": _named(settings, ["setting"]), "orders": _named(orders, ["setting"])}


def tabulate_campus(seed: int, campus: Mapping) -> Tables:
    """Simulate the WiFi example, with all readings of its numbers and with integer noise."""
    sizes = wifi.Campus(campus["buildings"], campus["groups"], campus["hours"])
    streams = partial(stream, seed, "campus")
    count = campus["repetitions"]
    return {
        "campus_constraints": wifi.tabulate_constraints(sizes),
        "campus_laws": wifi.compute_readings(
            streams("laws"), sizes, count, campus["exact_experiments"]
        ),
        "campus": wifi.simulate_readings(streams("readings"), sizes, count, campus["experiments"]),
        "campus_integer": wifi.simulate_integers(
            streams("integer"), sizes, 1.0, campus["integer_repetitions"]
        ),
    }


def tabulate_counties(
    seed: int, epsilon: float, counties: Mapping, population: pd.DataFrame, states: pd.DataFrame
) -> Tables:
    """Draw projected Laplace noise for the counties of each state.

    The states are the state of the figure and the states of the run, in the table `states`. Each
    state has its own random stream. `population` has all counties.
    """
    tables, shown = {}, counties["state"]
    for state in dict.fromkeys([shown, *states["state"]]):
        place = select_counties(population, state)
        runs_rng, slopes_rng = stream(seed, "subspace counties", state).spawn(2)
        noise = {
            scale: draw_county_noise(runs_rng, len(place), epsilon, counties["runs"], scale)
            for scale in counties["scales"]
        }
        table = compare_state(slopes_rng, place, noise, epsilon, counties["slope_runs"])
        tables[state, state == shown] = table
        if state == shown:
            boxes = tabulate_runs(place, noise)
    return {"counties": _named(tables, ["state", "shown"]), "boxes": boxes}


def _named(tables: Mapping, columns: list[str]) -> pd.DataFrame:
    return pd.concat(tables, names=columns).reset_index(columns).reset_index(drop=True)
