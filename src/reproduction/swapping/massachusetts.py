"""Experiment on Massachusetts in 1940: the printed swap, its estimated rate, and errors by rate.

`households`, from `reproduction.swapping.households.build_scenarios`, maps a scenario to counts by
size, county and tenure. A scenario is an assumption about the sizes of households by county.
"""

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np
import pandas as pd

from isdp.swapping.accuracy import covariance, debias_table, expected_table
from isdp.swapping.mechanism.permutation import invariants, swap_table
from isdp.swapping.privacy.bound import epsilon_bound
from reproduction.swapping.percentage_errors import expected_mape, mape
from reproduction.swapping.printed import PRINTED_RATE, TENURES, counts_after, counts_before
from reproduction.swapping.theory.rate_estimation import chi_square, fit, likely_rate


def compare_counties(table: pd.DataFrame, households: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Compare the printed swapped table with its exact mean and standard deviation, by county."""
    owned = table[["owned", "owned_after"]].set_axis(["before", "after"], axis=1).reset_index()
    parts = [
        owned.assign(
            scenario=scenario,
            mean=expected_table(counts, PRINTED_RATE).sum(axis=0)[:, 0],
            sd=np.sqrt(np.diag(covariance(counts, PRINTED_RATE))),
        )
        for scenario, counts in households.items()
    ]
    found = pd.concat(parts, ignore_index=True)
    found["z"] = (found["after"] - found["mean"]) / found["sd"]
    return found[["scenario", *found.columns.drop("scenario")]]


def fit_scenarios(table: pd.DataFrame, households: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Test the fit of each scenario to the printed swapped table, and estimate the swap rate."""
    rows = []
    for scenario, counts in households.items():
        at_half = fit(counts, counts_after(table), PRINTED_RATE)
        best = likely_rate(counts, counts_after(table))
        worst = int(abs(at_half.z[:, 0]).argmax())
        statistic = (at_half.chi_square, at_half.degrees, at_half.p)
        rate = (best.rate, best.error, (best.rate - PRINTED_RATE) / best.error)
        at_rate = chi_square(counts, counts_after(table), best.rate)
        rows.append((scenario, *statistic, table.index[worst], at_half.z[worst, 0], *rate, at_rate))
    columns = ["scenario", "chi_square", "degrees", "p", "farthest", "z", "rate", "error", "rate_z"]
    found = pd.DataFrame(rows, columns=[*columns, "chi_square_at_rate"])
    return found.assign(fitted=found["scenario"] == "fitted")


def fit_by_rate(
    table: pd.DataFrame, households: Mapping[str, np.ndarray], rates: Iterable[float]
) -> pd.DataFrame:
    """Compute the chi-square statistic of the printed swapped table by swap rate."""
    rows = [
        (scenario, rate, chi_square(counts, counts_after(table), rate))
        for (scenario, counts), rate in product(households.items(), rates)
    ]
    return pd.DataFrame(rows, columns=["scenario", "rate", "chi_square"])


def simulate_swaps(
    rng: np.random.Generator,
    households: Mapping[str, np.ndarray],
    rates: Iterable[float],
    number: int,
) -> pd.DataFrame:
    """Simulate `number` swaps of each scenario at each rate.

    Each pair of a scenario and a rate has its own random stream.
    """
    rows = []
    pairs = list(product(households.items(), rates))
    for ((scenario, counts), rate), stream in zip(pairs, rng.spawn(len(pairs)), strict=True):
        truth, held = counts.sum(axis=0), invariants(counts.shape)
        for run in range(number):
            swapped = swap_table(stream, counts, rate)
            summed, unmixed = swapped.sum(axis=0), debias_table(swapped, rate).sum(axis=0)
            rows.append(
                {
                    "scenario": scenario,
                    "rate": rate,
                    "run": run,
                    "mape": mape(truth, summed),
                    "mape_unmixed": mape(truth, unmixed),
                    "l1": float(abs(summed - truth).sum()),
                    "l1_unmixed": float(abs(unmixed - truth).sum()),
                    "violations": int(np.count_nonzero(held.apply((swapped - counts).ravel()))),
                }
            )
    return pd.DataFrame(rows)


def summarise_runs(
    runs: pd.DataFrame, households: Mapping[str, np.ndarray], printed: float
) -> pd.DataFrame:
    """Summarise the runs of each scenario and rate.

    `printed` is the mean absolute percentage error of the printed table.
    """
    groups = runs.groupby(["scenario", "rate"], sort=False)
    errors = {"runs": "size", "median": "median", "smallest": "min", "largest": "max", "sd": "std"}
    table = groups["mape"].agg(**errors).reset_index()
    pairs = list(zip(table["scenario"].map(households), table["rate"], strict=True))
    table["expected"] = [expected_mape(counts, rate) for counts, rate in pairs]
    off = (printed - table["expected"]) / table["sd"]
    table["printed_z"] = off.where(table["rate"] == PRINTED_RATE)
    table["median_unmixed"] = groups["mape_unmixed"].median().to_numpy()
    table["epsilon_bound"] = [
        epsilon_bound(rate, int(counts.sum(axis=(1, 2)).max())) for counts, rate in pairs
    ]
    table["violations"] = groups["violations"].sum().to_numpy()
    before = table.sort_values("rate").groupby("scenario")["median"].shift().sort_index()
    return table.assign(grows=(table["median"] > before).where(before.notna()))


def unmix_printed(table: pd.DataFrame) -> pd.DataFrame:
    """Correct the bias of the printed swapped table. Only the swap rate is needed."""
    cells = pd.MultiIndex.from_product([table.index, TENURES], names=["county", "tenure"])
    counts = {"before": counts_before(table), "after": counts_after(table)}
    counts["unmixed"] = debias_table(counts["after"][None], PRINTED_RATE)
    found = pd.DataFrame({name: count.ravel() for name, count in counts.items()}, index=cells)
    found["off"] = found["after"] - found["before"]
    found["off_unmixed"] = found["unmixed"] - found["before"]
    return found.reset_index()


def measure_printed(table: pd.DataFrame) -> pd.DataFrame:
    """Measure the error of the printed swapped table, before and after correction of its bias."""
    truth, swapped = counts_before(table)[0], counts_after(table)
    unmixed = debias_table(swapped[None], PRINTED_RATE)[0]
    rows = []
    for name, other in (("as printed", swapped), ("unmixed", unmixed)):
        off = abs(other - truth).astype(float)
        errors = (mape(truth, other), *(mape(truth[:, k], other[:, k]) for k in (0, 1)))
        expected = expected_mape(counts_before(table), PRINTED_RATE, debiased=name == "unmixed")
        rows.append((name, *errors, off.sum(), off.max(), expected))
    columns = ["table", "mape", "mape_owned", "mape_rented", "l1", "largest", "expected_mape"]
    return pd.DataFrame(rows, columns=columns)
