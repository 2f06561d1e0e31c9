"""Tables of the study and the data of its figures, with one function per rule.

The slides (SWAP) print the budgets in `printed`, and the dwellings of Massachusetts in `table`.
`settings` is the block `swapping` of the configuration, and `seed` is the seed of the run.

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from isdp.streams import stream
from reproduction.swapping import (
    against_noise,
    attacks,
    budgets,
    demonstrations,
    massachusetts,
    statements,
)
from reproduction.swapping.households import build_households, build_scenarios
from reproduction.swapping.printed import counts_before
from reproduction.swapping.theory.flavours import CITED, SYSTEMS

RATES = (0.01, 0.05, 0.1, 0.5)  # rates of the slides' budgets
# sizes and rates of the variants; from 0.6 to 0.75 a plain permutation exceeds the bound
VARIANT_GRID = ((2, 3, 4, 5, 10, 20), (0.05, 0.5, 0.6, 0.65, 0.7, 0.75, 0.9, 0.99))
PERMUTATION_GRID = ((4, 5), (0.5, 0.8), 50_000)  # sizes, rates and strata of sampled permutations
N_SIZES = 12  # household sizes of the synthetic households
EXPOSED_SCENARIO = "persons per dwelling"  # a scenario that is not fitted to the swapped table
LIKELY_RATES = np.linspace(0.47, 0.53, 61)  # grid for the fit of the printed swap
DELTAS = tuple(10.0**-k for k in range(2, 31))
EPSILONS = (0.001, 0.01, 0.1, 1.0, 4.0, 6.754, 12.48)  # epsilons of integer noise
ISLANDS = ("Nantucket", "Dukes")  # the smallest counties, where an exchange is easiest to detect


def tabulate_losses(
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping, seed: int
) -> dict[str, pd.DataFrame]:
    """Compute budgets and losses, and test sampled permutations."""
    rng, _ = stream(seed, "swapping", "computed").spawn(2)
    state = tuple(table["total"].tolist())
    sizes, records = settings["sizes"], sum(state)
    found = budgets.recompute_printed(printed)
    largest = int(found.query("census == '1940'")["largest"].max())
    plotted = np.unique(np.logspace(np.log10(2), 7.2, 40).astype(int)).tolist()
    return {
        "budgets": found,
        "remarks": budgets.check_remarks(sizes),
        "law": budgets.compare_permutations(rng, *PERMUTATION_GRID),
        "exact_loss": budgets.compute_exact_losses(sizes, RATES),
        "universe_loss": budgets.compute_universe_losses([*settings["universes"], state], RATES),
        "table_loss": budgets.compute_table_losses(settings["tables"], RATES),
        "table_bounds": budgets.compute_table_bounds(
            [11, 60, 1000, records], table["owned"].sum() / records, RATES
        ),
        "profile": budgets.compute_profile(settings["drawn"], RATES, [settings["delta"]]),
        "variants": budgets.compare_variants(*VARIANT_GRID),
        "budget_points": budgets.gather_budget_points(
            budgets.compute_budget_curves(settings["drawn"]), found
        ),
        "tightness_points": budgets.gather_tightness_points(plotted, RATES, DELTAS, largest),
    }


def tabulate_guarantees(
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping, seed: int
) -> dict[str, pd.DataFrame]:
    """Compare the guarantees of the systems, and check the slides' statements about them."""
    return {
        "flavours": pd.DataFrame(list(SYSTEMS)),
        "flavours_cited": pd.DataFrame(CITED),
        "flavours_compared": demonstrations.compare_flavours(),
        "topdown_budget": demonstrations.convert_topdown_budgets(),
        "necessity": demonstrations.check_necessity(),
        "redundant": demonstrations.rank_reduced_margins(),
        "perverse_guide": demonstrations.tabulate_perverse_guide(
            printed, counts_before(table), build_households(table, EXPOSED_SCENARIO)
        ),
        "errata": demonstrations.list_errata(printed),
        "statements": statements.tabulate_statements(
            stream(seed, "swapping", "statements"), printed, table
        ),
    }


def tabulate_attacks(
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping, seed: int
) -> dict[str, pd.DataFrame]:
    """Compute the success of attackers, and compare swapping with integer noise."""
    _, rng = stream(seed, "swapping", "computed").spawn(2)
    rates, runs = settings["rates"], settings["located"]
    stratum, totals = counts_before(table), table["total"].to_numpy()
    simulated = {
        rate: pd.DataFrame(
            attacks.simulate_posteriors(rng, totals, rate, runs), columns=table.index
        )
        for rate in rates
    }
    placed = attacks.add_simulated(attacks.compute_locations(table.index, totals, rates), simulated)
    whole_state = attacks.compute_accuracy(totals, rates)
    compared = against_noise.compare_at_equal_error(stratum, rates)
    islands = (table.index.get_loc(name) for name in ISLANDS)
    advantages = against_noise.compare_advantages(stratum, *islands, compared)
    return {
        "attack": placed,
        "attack_state": whole_state,
        "attack_sizes": attacks.find_exposed_strata(
            build_households(table, EXPOSED_SCENARIO), rates
        ),
        "advantages": advantages,
        "against_noise": compared,
        "equal_epsilon": against_noise.tabulate_noise_errors(stratum[0], EPSILONS),
        "noise_by_size": against_noise.tabulate_strata_errors(stratum[0], EPSILONS[:4], N_SIZES),
        "attack_points": attacks.gather_attack_curves(placed, whole_state, advantages),
    }


def tabulate_massachusetts(
    printed: pd.DataFrame, table: pd.DataFrame, settings: Mapping, seed: int
) -> dict[str, pd.DataFrame]:
    """Compare the printed swap with its distribution, and simulate swaps at each rate."""
    households = build_scenarios(table, settings["households"])
    rng = stream(seed, "swapping", "runs")
    runs = massachusetts.simulate_swaps(rng, households, settings["rates"], settings["runs"])
    errors = massachusetts.measure_printed(table)
    fit = massachusetts.fit_scenarios(table, households)
    counties = massachusetts.compare_counties(table, households)
    unmixed = massachusetts.unmix_printed(table)
    by_rate = massachusetts.fit_by_rate(table, households, LIKELY_RATES)
    columns = ["scenario", "rate", "error", "chi_square_at_rate", "degrees", "fitted"]
    at_likeliest = fit[columns].rename(columns={"rate": "likeliest_rate"})
    return {
        "massachusetts": counties,
        "fit": fit,
        "mape": massachusetts.summarise_runs(runs, households, errors["mape"].iloc[0]),
        "printed": errors,
        "unmixed": unmixed,
        "massachusetts_points": counties,
        "rate_points": by_rate.merge(at_likeliest, on="scenario", validate="many_to_one"),
        "mape_points": runs,
        "unmixed_points": unmixed,
    }
