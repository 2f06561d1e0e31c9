"""Tables of the study and the data that its figures show: one function for each rule.

Each function takes the budgets (`printed`) and Massachusetts (`table`) as the slides print them,
the block `swapping` of the config, and the seed of the run.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from isdp.streams import stream
from reproduction.swapping import against_noise, attacks, budgets, demonstrations, massachusetts
from reproduction.swapping.households import scenarios, synthetic
from reproduction.swapping.printed import before
from reproduction.swapping.theory.flavours import CITED, SYSTEMS

RATES = (0.01, 0.05, 0.1, 0.5)  # at which the slides give budgets
VARIED = ((2, 3, 4, 5, 10, 20), (0.05, 0.5, 0.9, 0.99))  # sizes and rates of the variants
LAW = ((4, 5), (0.5, 0.8), 50_000)  # sizes, rates and strata of sampled permutations
OUTPUTS = 12  # sizes of households in the synthetic ones
EXPOSED = "persons per dwelling"  # the mix that is not fitted to the swapped table
LIKELY_RATES = np.linspace(0.47, 0.53, 61)  # at which the printed swap is fitted
DELTAS = tuple(10.0**-k for k in range(2, 31))
EPSILONS = (0.001, 0.01, 0.1, 1.0, 4.0, 6.754, 12.48)  # of integer noise
ISLANDS = ("Nantucket", "Dukes")  # the smallest counties, whose exchange shows most


def loss_tables(
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping, seed: int
) -> dict[str, pd.DataFrame]:
    """Compute budgets and losses, and compare sampled permutations with their distribution."""
    rng, _ = stream(seed, "swapping", "computed").spawn(2)
    state = tuple(table["total"].tolist())
    sizes, records = settings["sizes"], sum(state)
    found = budgets.printed_budgets(printed)
    largest = int(found.query("census == '1940'")["largest"].max())
    plotted = np.unique(np.logspace(np.log10(2), 7.2, 40).astype(int)).tolist()
    return {
        "budgets": found,
        "remarks": budgets.remarks(sizes),
        "law": budgets.law_table(rng, *LAW),
        "exact_loss": budgets.exact_losses(sizes, RATES),
        "universe_loss": budgets.universes([*settings["universes"], state], RATES),
        "table_loss": budgets.table_only(settings["tables"], RATES),
        "table_bounds": budgets.table_only_bounds(
            [11, 60, 1000, records], table["owned"].sum() / records, RATES
        ),
        "profile": budgets.profile(settings["drawn"], RATES, [settings["delta"]]),
        "variants": budgets.variants(*VARIED),
        "budget_points": budgets.points(budgets.curves(settings["drawn"]), found),
        "tightness_points": budgets.tightness(plotted, RATES, DELTAS, largest),
    }


def guarantee_tables(
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping, seed: int
) -> dict[str, pd.DataFrame]:
    """Compare the guarantees of the systems, and check the slides' statements about them."""
    compared = demonstrations.flavours_compared()
    return {
        "flavours": pd.DataFrame(list(SYSTEMS)),
        "flavours_cited": pd.DataFrame(list(CITED)),
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
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping, seed: int
) -> dict[str, pd.DataFrame]:
    """Compute what an attacker learns, and integer noise on the same table."""
    _, rng = stream(seed, "swapping", "computed").spawn(2)
    rates, runs = settings["rates"], settings["located"]
    stratum, totals = before(table), table["total"].to_numpy()
    simulated = {rate: attacks.simulated_posteriors(rng, totals, rate, runs) for rate in rates}
    placed = attacks.place_simulated(attacks.locations(table.index, totals, rates), simulated)
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
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping, seed: int
) -> dict[str, pd.DataFrame]:
    """Compare the printed swap with its distribution, and simulate swaps at each rate."""
    households = scenarios(table, settings["households"])
    rng = stream(seed, "swapping", "runs")
    runs = massachusetts.all_runs(rng, households, settings["rates"], settings["runs"])
    errors, fit = massachusetts.printed_errors(table), massachusetts.fit_table(table, households)
    counties = massachusetts.counties_table(table, households)
    unmixed = massachusetts.unmixed_table(table)
    by_rate = massachusetts.fit_by_rate(table, households, LIKELY_RATES)
    at_likeliest = fit[
        ["scenario", "rate", "error", "chi_square_at_rate", "degrees", "fitted"]
    ].rename(columns={"rate": "likeliest_rate"})
    return {
        "massachusetts": counties,
        "fit": fit,
        "mape": massachusetts.summary(runs, households, errors["mape"].iloc[0]),
        "printed": errors,
        "unmixed": unmixed,
        "massachusetts_points": counties,
        "rate_points": by_rate.merge(at_likeliest, on="scenario", validate="many_to_one"),
        "mape_points": runs,
        "unmixed_points": unmixed,
    }
