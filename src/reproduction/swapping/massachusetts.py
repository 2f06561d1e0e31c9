"""The experiment on Massachusetts in 1940: the printed swap, its likely rate, errors by rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from isdp.swapping.budget import epsilon_bound
from isdp.swapping.estimation import chi_square, fit, likely_rate
from isdp.swapping.moments import covariance, expected_mape, expected_table, mape, unmix
from isdp.swapping.permutation import invariants, swap_table
from reproduction.swapping.printed import TENURES, after, before

PRINTED_RATE = 0.5


def counties_table(table: pd.DataFrame, households: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Compare the printed swapped table with its mean and spread, county by county.

    Returns
    -------
    DataFrame with a row for each scenario and county
        `before`, `after`: owned dwellings as printed; `mean`, `sd` of those after the swap at 50 %,
        exact; `z` their distance in standard deviations.
    """
    rows = []
    for scenario, counts in households.items():
        mean = expected_table(counts, PRINTED_RATE).sum(axis=0)[:, 0]
        sd = np.sqrt(np.diag(covariance(counts, PRINTED_RATE)))
        rows.append(
            pd.DataFrame(
                {
                    "scenario": scenario,
                    "county": table.index,
                    "before": table["owned"].to_numpy(),
                    "after": table["owned_after"].to_numpy(),
                    "mean": mean,
                    "sd": sd,
                    "z": (table["owned_after"].to_numpy() - mean) / sd,
                }
            )
        )
    return pd.concat(rows, ignore_index=True)


def fit_table(table: pd.DataFrame, households: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Say how well each scenario explains the printed swapped table, and at which rate best.

    Returns
    -------
    DataFrame with a row a scenario
        `chi_square` on `degrees` at 50 %, with `p`; `farthest`, the county of the largest |z|,
        with `z`; `rate` of highest likelihood with its `error`, and `rate_z`, how many of these
        it is from 50 %; `chi_square_at_rate`; `fitted`, whether the scenario was made from the same
        table and so is no evidence.
    """
    rows = []
    for scenario, counts in households.items():
        at_half = fit(counts, after(table), PRINTED_RATE)
        best = likely_rate(counts, after(table))
        worst = int(abs(at_half.z[:, 0]).argmax())
        rows.append(
            {
                "scenario": scenario,
                "chi_square": at_half.chi_square,
                "degrees": at_half.degrees,
                "p": at_half.p,
                "farthest": table.index[worst],
                "z": at_half.z[worst, 0],
                "rate": best.rate,
                "error": best.error,
                "rate_z": (best.rate - PRINTED_RATE) / best.error,
                "chi_square_at_rate": chi_square(counts, after(table), best.rate),
                "fitted": scenario == "fitted",
            }
        )
    return pd.DataFrame(rows)


def fit_by_rate(
    table: pd.DataFrame, households: Mapping[str, np.ndarray], rates: Iterable[float]
) -> pd.DataFrame:
    """Chi-square of the printed swapped table by swap rate; `scenario`, `rate`, `chi_square`."""
    swapped = after(table)
    rows = [
        (scenario, rate, chi_square(counts, swapped, rate))
        for scenario, counts in households.items()
        for rate in rates
    ]
    return pd.DataFrame(rows, columns=["scenario", "rate", "chi_square"])


def runs(
    rng: np.random.Generator, scenario: str, counts: np.ndarray, rate: float, number: int
) -> pd.DataFrame:
    """Swap the households some times, and measure the error of the table of county by tenure.

    Parameters
    ----------
    rng : numpy.random.Generator
    scenario : str
        Its name, for the table.
    counts : int64 array, shape (J, 14, 2)
    rate : float
    number : int
        Runs.

    Returns
    -------
    DataFrame with a row a run
        `mape` and `mape_unmixed`, in per cent, over the 28 cells; `l1` and `l1_unmixed`; and
        `violations`, totals not kept, counted again in whole numbers.
    """
    truth, rows, held = counts.sum(axis=0), [], invariants(counts.shape)
    for run in range(number):
        swapped = swap_table(rng, counts, rate)
        summed, undone = swapped.sum(axis=0), unmix(swapped, rate).sum(axis=0)
        rows.append(
            {
                "scenario": scenario,
                "rate": rate,
                "run": run,
                "mape": mape(truth, summed),
                "mape_unmixed": mape(truth, undone),
                "l1": float(abs(summed - truth).sum()),
                "l1_unmixed": float(abs(undone - truth).sum()),
                "violations": int(np.count_nonzero(held.apply((swapped - counts).ravel()))),
            }
        )
    return pd.DataFrame(rows)


def summary(
    all_runs: pd.DataFrame, households: Mapping[str, np.ndarray], printed: float
) -> pd.DataFrame:
    """Summarise the runs of each scenario and rate beside what is expected.

    Parameters
    ----------
    all_runs : DataFrame
        From `all_runs`.
    households : mapping from str to int64 array, shape (J, 14, 2)
    printed : float
        MAPE of the printed swapped table.

    Returns
    -------
    DataFrame with a row for each scenario and rate
        Median, smallest and largest `mape` over the runs, and whether the median `grows` from the
        next smaller rate; the median of `mape_unmixed`, the `expected` MAPE by the exact mean and
        variance, `printed_z`, how many standard deviations of the runs the printed table's is from
        that (at 50 % alone), and the budget by the bound.
    """
    rows = []
    for (scenario, rate), part in all_runs.groupby(["scenario", "rate"], sort=False):
        counts = households[scenario]
        expected, sd = expected_mape(counts, rate), part["mape"].std()
        rows.append(
            {
                "scenario": scenario,
                "rate": rate,
                "runs": len(part),
                "median": part["mape"].median(),
                "smallest": part["mape"].min(),
                "largest": part["mape"].max(),
                "sd": sd,
                "expected": expected,
                "printed_z": (printed - expected) / sd if rate == PRINTED_RATE else np.nan,
                "median_unmixed": part["mape_unmixed"].median(),
                "epsilon_bound": epsilon_bound(rate, int(counts.sum(axis=(1, 2)).max())),
                "violations": int(part["violations"].sum()),
            }
        )
    table = pd.DataFrame(rows)
    before = table.sort_values("rate").groupby("scenario")["median"].shift().sort_index()
    return table.assign(grows=(table["median"] > before).where(before.notna()))


def unmixed_table(table: pd.DataFrame) -> pd.DataFrame:
    """Undo the printed swap as a reader can who knows its rate: a row for each county and tenure.

    Returns
    -------
    DataFrame
        `before`, `after`, `unmixed`, and the errors `off` and `off_unmixed`.
    """
    truth, swapped = before(table)[0], after(table)
    undone = unmix(swapped[None], PRINTED_RATE)[0]
    return pd.DataFrame(
        {
            "county": np.repeat(table.index, len(TENURES)),
            "tenure": list(TENURES) * len(table),
            "before": truth.ravel(),
            "after": swapped.ravel(),
            "unmixed": undone.ravel(),
            "off": (swapped - truth).ravel(),
            "off_unmixed": (undone - truth).ravel(),
        }
    )


def printed_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Measure the printed swapped table, as it is and unmixed."""
    truth, swapped = before(table)[0], after(table)
    undone = unmix(swapped[None], PRINTED_RATE)[0]
    rows = [
        {
            "table": name,
            "mape": mape(truth, other),
            "mape_owned": mape(truth[:, 0], other[:, 0]),
            "mape_rented": mape(truth[:, 1], other[:, 1]),
            "l1": float(abs(other - truth).sum()),
            "largest": float(abs(other - truth).max()),
            "expected_mape": expected_mape(before(table), PRINTED_RATE, unmixed=name == "unmixed"),
        }
        for name, other in (("as printed", swapped), ("unmixed", undone))
    ]
    return pd.DataFrame(rows)


def all_runs(
    rng: np.random.Generator,
    households: Mapping[str, np.ndarray],
    rates: Iterable[float],
    number: int,
) -> pd.DataFrame:
    """Run every scenario at every rate, each with a stream of its own."""
    pairs = [(name, rate) for name in households for rate in rates]
    parts = [
        runs(stream, name, households[name], rate, number)
        for (name, rate), stream in zip(pairs, rng.spawn(len(pairs)), strict=True)
    ]
    return pd.concat(parts, ignore_index=True)
