"""All tables of the wing, by what they are of, and what its figures show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from reproduction.swapping import against_noise, attacks, budgets, demonstrations
from reproduction.swapping.households import synthetic
from reproduction.swapping.law import law_table
from reproduction.swapping.massachusetts import (
    counties_table,
    fit_by_rate,
    fit_table,
    printed_errors,
    summary,
    unmixed_table,
)
from reproduction.swapping.printed import before

RATES = (0.01, 0.05, 0.1, 0.5)  # at which the slides give budgets
VARIED = ((2, 3, 4, 5, 10, 20), (0.05, 0.5, 0.9, 0.99))  # sizes and rates of the variants
LAW = ((4, 5), (0.5, 0.8), 50_000)  # sizes, rates and strata of the law; every cell is expected
OUTPUTS = 12  # sizes of households in the synthetic ones
EXPOSED = "persons per dwelling"  # the mix that owes nothing to the swapped table
LIKELY_RATES = np.linspace(0.47, 0.53, 61)  # at which the printed swap is fitted
DELTAS = tuple(10.0**-k for k in range(2, 31))
EPSILONS = (0.001, 0.01, 0.1, 1.0, 4.0, 6.754, 12.48)  # of integer noise
ISLANDS = ("Nantucket", "Dukes")  # the smallest counties, whose exchange shows most


def budget_tables(
    rng: np.random.Generator, printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Tables of the law, the budget and the losses, by name.

    Parameters
    ----------
    rng : numpy.random.Generator
    printed, table : DataFrame
        From `reproduction.swapping.printed`: the budgets and Massachusetts.
    settings : mapping
        The block `swapping` of the config.
    """
    state = tuple(table["total"].tolist())
    sizes, records = settings["sizes"], sum(state)
    return {
        "budgets": budgets.printed_budgets(printed),
        "remarks": budgets.remarks(sizes),
        "law": law_table(rng, *LAW),
        "exact_loss": budgets.exact_losses(sizes, RATES),
        "universe_loss": budgets.universes([*settings["universes"], state], RATES),
        "table_loss": budgets.table_only(settings["tables"], RATES),
        "table_bounds": budgets.table_only_bounds(
            [11, 60, 1000, records], table["owned"].sum() / records, RATES
        ),
        "profile": budgets.profile(settings["drawn"], RATES, [settings["delta"]]),
        "variants": budgets.variants(*VARIED),
    }


def flavour_tables(printed: pd.DataFrame, table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables of flavours, theorems, the perverse guide and errata, by name."""
    return {
        "flavours": demonstrations.flavours(),
        "flavours_cited": demonstrations.cited_flavours(),
        "flavours_compared": demonstrations.flavours_compared(),
        "topdown_budget": demonstrations.topdown_budgets(),
        "necessity": demonstrations.necessity(),
        "redundant": demonstrations.redundant_invariants(),
        "perverse_guide": demonstrations.perverse_guide(
            printed, before(table), synthetic(table, EXPOSED)
        ),
        "errata": demonstrations.errata(printed),
    }


def attack_tables(
    rng: np.random.Generator, table: pd.DataFrame, rates: list[float], located: int
) -> dict[str, pd.DataFrame]:
    """Tables of what an attacker learns, and of integer noise on the same table, by name.

    Parameters
    ----------
    rng : numpy.random.Generator
    table : DataFrame
    rates : list of float
    located : int
        Swaps simulated for each rate.
    """
    stratum, totals = before(table), table["total"].to_numpy()
    found = attacks.locations(table.index, totals, rates)
    simulated = {rate: attacks.simulated_posteriors(rng, totals, rate, located) for rate in rates}
    compared = against_noise.equal_error(stratum, rates)
    islands = (table.index.get_loc(name) for name in ISLANDS)
    return {
        "attack": attacks.place_simulated(found, simulated),
        "attack_state": attacks.whole_state(totals, rates),
        "attack_sizes": attacks.by_strata(synthetic(table, EXPOSED), rates),
        "advantages": against_noise.advantages(stratum, *islands, compared),
        "against_noise": compared,
        "equal_epsilon": against_noise.equal_epsilon(stratum[0], EPSILONS),
        "noise_by_size": against_noise.by_strata(stratum[0], EPSILONS[:4], OUTPUTS),
    }


def massachusetts_tables(
    table: pd.DataFrame, households: Mapping[str, np.ndarray], runs: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Tables of the printed swap against its law, and of simulated swaps, by name.

    Parameters
    ----------
    table : DataFrame
    households : mapping
        From `reproduction.swapping.households.scenarios`.
    runs : DataFrame
        From `reproduction.swapping.massachusetts.all_runs`.
    """
    errors = printed_errors(table)
    return {
        "massachusetts": counties_table(table, households),
        "fit": fit_table(table, households),
        "mape": summary(runs, households, errors["mape"].iloc[0]),
        "printed": errors,
        "unmixed": unmixed_table(table),
    }


def figure_tables(
    tables: Mapping[str, pd.DataFrame],
    table: pd.DataFrame,
    households: Mapping[str, np.ndarray],
    settings: Mapping,
) -> dict[str, pd.DataFrame]:
    """Gather what the figures show, by name; but the runs, which the figure of errors shows."""
    largest = int(tables["budgets"].query("census == '1940'")["largest"].max())
    sizes = np.unique(np.logspace(np.log10(2), 7.2, 40).astype(int)).tolist()
    likeliest = {"rate": "likeliest_rate", "error": "error"}
    likeliest |= {name: name for name in ("chi_square_at_rate", "degrees", "fitted")}
    return {
        "budget": budget_points(budgets.curves(settings["drawn"]), tables["budgets"]),
        "tightness": budgets.tightness(sizes, RATES, DELTAS, largest),
        "attack": attacks.curves(tables["attack"], tables["attack_state"], tables["advantages"]),
        "against_noise": against_noise.error_curves(
            before(table)[0], tables["against_noise"], np.logspace(-3, 1.2, 43)
        ),
        "flavours": tables["flavours_compared"],
        "massachusetts": tables["massachusetts"],
        "unmixed": tables["unmixed"],
        "rate": fit_by_rate(table, households, LIKELY_RATES).merge(
            tables["fit"][["scenario", *likeliest]].rename(columns=likeliest), on="scenario"
        ),
    }


def budget_points(curves: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Points of the figure of budgets by series: curves, and printed numbers with their bounds."""
    marks = printed[["largest", "rate", "epsilon", "computed"]]
    return pd.concat([curves.assign(series="curve"), marks.assign(series="printed")])
