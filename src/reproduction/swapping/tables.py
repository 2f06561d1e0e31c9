"""Tables of the study, and the data that its figures show, by subject."""

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


def loss_tables(
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Compute the budgets and the losses, and the points of the figures of both.

    Parameters
    ----------
    printed, table : DataFrame
        From `reproduction.swapping.printed`: the budgets and Massachusetts.
    settings : mapping
        The block `swapping` of the config.
    """
    state = tuple(table["total"].tolist())
    sizes, records = settings["sizes"], sum(state)
    found = budgets.printed_budgets(printed)
    largest = int(found.query("census == '1940'")["largest"].max())
    plotted = np.unique(np.logspace(np.log10(2), 7.2, 40).astype(int)).tolist()
    return {
        "budgets": found,
        "remarks": budgets.remarks(sizes),
        "exact_loss": budgets.exact_losses(sizes, RATES),
        "universe_loss": budgets.universes([*settings["universes"], state], RATES),
        "table_loss": budgets.table_only(settings["tables"], RATES),
        "table_bounds": budgets.table_only_bounds(
            [11, 60, 1000, records], table["owned"].sum() / records, RATES
        ),
        "profile": budgets.profile(settings["drawn"], RATES, [settings["delta"]]),
        "variants": budgets.variants(*VARIED),
        "budget_points": budget_points(budgets.curves(settings["drawn"]), found),
        "tightness_points": budgets.tightness(plotted, RATES, DELTAS, largest),
    }


def permutation_table(rng: np.random.Generator) -> pd.DataFrame:
    """Compare sampled permutations with their exact distribution."""
    return law_table(rng, *LAW)


def guarantee_tables(printed: pd.DataFrame, table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Compare the guarantees of the systems, and check the slides' statements about them."""
    compared = demonstrations.flavours_compared()
    return {
        "flavours": demonstrations.flavours(),
        "flavours_cited": demonstrations.cited_flavours(),
        "flavours_compared": compared,
        "flavours_points": compared,
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
    """Compute what an attacker learns, and integer noise on the same table.

    Parameters
    ----------
    rng : numpy.random.Generator
    table : DataFrame
    rates : list of float
    located : int
        Number of simulated swaps for each rate.
    """
    stratum, totals = before(table), table["total"].to_numpy()
    found = attacks.locations(table.index, totals, rates)
    simulated = {rate: attacks.simulated_posteriors(rng, totals, rate, located) for rate in rates}
    placed = attacks.place_simulated(found, simulated)
    whole_state = attacks.whole_state(totals, rates)
    compared = against_noise.equal_error(stratum, rates)
    islands = (table.index.get_loc(name) for name in ISLANDS)
    advantages = against_noise.advantages(stratum, *islands, compared)
    return {
        "attack": placed,
        "attack_state": whole_state,
        "attack_sizes": attacks.by_strata(synthetic(table, EXPOSED), rates),
        "advantages": advantages,
        "against_noise": compared,
        "equal_epsilon": against_noise.equal_epsilon(stratum[0], EPSILONS),
        "noise_by_size": against_noise.by_strata(stratum[0], EPSILONS[:4], OUTPUTS),
        "attack_points": attacks.curves(placed, whole_state, advantages),
        "against_noise_points": against_noise.error_curves(
            stratum[0], compared, np.logspace(-3, 1.2, 43)
        ),
    }


def massachusetts_tables(
    table: pd.DataFrame, households: Mapping[str, np.ndarray], runs: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Compare the printed swap with its distribution, and summarise simulated swaps.

    Parameters
    ----------
    table : DataFrame
    households : mapping
        From `reproduction.swapping.households.scenarios`.
    runs : DataFrame
        From `reproduction.swapping.massachusetts.all_runs`.
    """
    errors, fit = printed_errors(table), fit_table(table, households)
    counties, unmixed = counties_table(table, households), unmixed_table(table)
    at_likeliest = fit[
        ["scenario", "rate", "error", "chi_square_at_rate", "degrees", "fitted"]
    ].rename(columns={"rate": "likeliest_rate"})
    return {
        "massachusetts": counties,
        "fit": fit,
        "mape": summary(runs, households, errors["mape"].iloc[0]),
        "printed": errors,
        "unmixed": unmixed,
        "massachusetts_points": counties,
        "rate_points": fit_by_rate(table, households, LIKELY_RATES).merge(
            at_likeliest, on="scenario"
        ),
        "mape_points": runs,
        "unmixed_points": unmixed,
    }


def budget_points(curves: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Points of the figure of budgets by series: curves, and printed numbers with their bounds."""
    marks = printed[["largest", "rate", "epsilon", "computed"]]
    return pd.concat([curves.assign(series="curve"), marks.assign(series="printed")])
