"""The experiments on integer lattices (ISDP, Sections 5, E.2 and E.3): coupling, noise, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
from scipy import special
from scipy.optimize import brentq

from isdp.coupling import MeetingTimes, choose_lag, meeting_times, time_to_bound, tv_bound
from isdp.diagnostics import convergence
from isdp.drawfile import Draws
from isdp.experiment import Experiment
from isdp.lattice import degrees_of_freedom
from isdp.mechanisms import Mechanism
from isdp.metropolis import LatticeWalk, run_chains
from isdp.summaries import boxes, describe_cells

GRID_POINTS = 160


def couple(
    rng: np.random.Generator,
    walk: LatticeWalk,
    *,
    runs: int,
    pilot_runs: int,
    near_one: float,
    lag_factors: list[float],
    cap: int,
) -> tuple[list[MeetingTimes], pd.DataFrame]:
    """Choose a lag by the paper's rule, and measure meeting times at it and at multiples of it.

    Parameters
    ----------
    rng : numpy.random.Generator
    walk : LatticeWalk
    runs, pilot_runs : int
        Coupled pairs for each bound, and for each lag that is tried.
    near_one : float
        The lag is raised until the bound at time 0 is at most this.
    lag_factors : list of float
        Multiples of the chosen lag to show; 1 is the chosen lag itself.
    cap : int
        Time after which a run is given up.

    Returns
    -------
    times : list of MeetingTimes
        One a factor.
    trail : DataFrame
        The lags that were tried, from `isdp.coupling.choose_lag`.
    """
    pilot, *streams = rng.spawn(1 + len(lag_factors))
    lag, trail = choose_lag(pilot, walk, near_one=near_one, runs=pilot_runs, cap=cap)
    lags = dict.fromkeys(max(1, round(factor * lag)) for factor in lag_factors)
    times = [
        meeting_times(stream, walk, lag=each, runs=runs, cap=cap)
        for stream, each in zip(streams, lags, strict=False)
    ]
    return times, trail.assign(chosen=trail["lag"] == lag)


def bound_curves(times: list[MeetingTimes]) -> pd.DataFrame:
    """Bounds against time for several lags.

    Times are spaced evenly in their logarithm; each lag's time to the bound 0.01 is among them.
    """
    longest = max(int(each.tau.max()) - each.lag for each in times) + 1
    spaced = np.round(np.geomspace(1, longest + 1, GRID_POINTS)).astype(np.int64) - 1
    marks = [time for each in times if (time := time_to_bound(each)) is not None]
    grid = np.unique([*spaced, *marks]).astype(np.int64)
    return pd.concat([tv_bound(each, grid) for each in times], ignore_index=True)


def meeting_table(times: list[MeetingTimes]) -> pd.DataFrame:
    """One row a lag: chains, censored, mean and largest meeting time, and times to the bounds.

    Times are counted from the lag on (tau - lag). `standing` counts runs that met because the
    leading chain had not moved within the lag. Where runs are censored or standing, the time to a
    bound is missing: the chain is not shown to have converged.
    """
    rows = [
        {
            "lag": each.lag,
            "chains": len(each.tau),
            "censored": int(each.censored.sum()),
            "standing": int((each.jumps == 0).sum()),
            "mean": float((each.tau - each.lag).mean()),
            "max": int((each.tau - each.lag).max()),
            "bound_at_0": float(tv_bound(each, [0])["bound"].iloc[0]),
            "iterations_to_bound_0_1": time_to_bound(each, 0.1),
            "iterations_to_bound_0_01": time_to_bound(each, 0.01),
        }
        for each in times
    ]
    whole = {"iterations_to_bound_0_1": "Int64", "iterations_to_bound_0_01": "Int64"}
    return pd.DataFrame(rows).astype(whole)


def convergence_table(meetings: pd.DataFrame) -> pd.DataFrame:
    """Compare the variants of each experiment and law, from the table meeting_times.

    Returns
    -------
    DataFrame with columns experiment, norm, variant, lag (the chosen one), bound_at_0,
        iterations_to_bound_0_01, mean_over_lags (the same over all lags shown), spread (of the
        time to bound 0.1 over the lags: largest by smallest) and fewer_than_paper (the paper's
        iterations to 0.01 by this variant's, each the mean over the lags, which is steadier than
        one lag's last two runs)
    """
    rows = []
    for key, part in meetings.groupby(["experiment", "norm", "variant"], sort=False):
        chosen = part[part["chosen"]].iloc[0]
        steps = part["iterations_to_bound_0_1"].astype("Float64")
        over_lags = part["iterations_to_bound_0_01"].astype("Float64")
        rows.append(
            {
                **dict(zip(("experiment", "norm", "variant"), key, strict=True)),
                "lag": chosen["lag"],
                "bound_at_0": chosen["bound_at_0"],
                "censored": int(part["censored"].sum()),
                "standing": int(chosen["standing"]),
                "iterations_to_bound_0_01": chosen["iterations_to_bound_0_01"],
                "mean_over_lags": over_lags.mean() if over_lags.notna().all() else np.nan,
                "spread": steps.max() / steps.min() if steps.notna().all() else np.nan,
            }
        )
    table = pd.DataFrame(rows).astype({"iterations_to_bound_0_01": "Int64"})
    table["fewer_than_paper"] = _paper_by_ours(table, "mean_over_lags")
    return table


def _paper_by_ours(table: pd.DataFrame, column: str) -> np.ndarray:
    """Divide the paper variant's value by each variant's, within experiment and law."""
    keys = ["experiment", "norm"]
    paper = table.loc[table["variant"] == "paper", [*keys, column]]
    both = table[keys].merge(paper, on=keys, how="left")[column].astype("Float64")
    return (both.to_numpy(float, na_value=np.nan)) / table[column].astype("Float64").to_numpy(
        float, na_value=np.nan
    )


def speed_table(meetings: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """Time that one chain takes until its bound is below 0.01, variant by variant.

    Parameters
    ----------
    meetings : DataFrame
        From `meeting_table`, of all experiments.
    seconds : DataFrame
        Columns experiment, norm, variant, lag and seconds of the coupled runs.

    Returns
    -------
    DataFrame with columns experiment, norm, variant, iterations_to_bound_0_01,
        microseconds_per_iteration (of a coupled pair), milliseconds_to_bound_0_01 (of a pair) and
        faster_than_paper
    """
    keys = ["experiment", "norm", "variant", "lag"]
    table = meetings[meetings["chosen"]].merge(seconds, on=keys)
    iterations = table["chains"] * (table["mean"] + table["lag"])
    table["microseconds_per_iteration"] = 1e6 * table["seconds"] / iterations
    table["milliseconds_to_bound_0_01"] = (
        table["iterations_to_bound_0_01"].astype("Float64")
        * table["microseconds_per_iteration"]
        / 1000
    )
    table["faster_than_paper"] = _paper_by_ours(table, "milliseconds_to_bound_0_01")
    return table[
        [
            *keys[:3],
            "iterations_to_bound_0_01",
            "microseconds_per_iteration",
            "milliseconds_to_bound_0_01",
            "faster_than_paper",
        ]
    ]


def meeting_columns(meetings: pd.DataFrame) -> pd.DataFrame:
    """Put the columns of the meeting times in the order in which others read them."""
    first = ["experiment", "norm", "variant", "lag", "chains", "censored", "mean", "max"]
    first.append("iterations_to_bound_0_01")
    return meetings[[*first, *meetings.columns.drop(first)]]


def burn_in_from(meetings: pd.DataFrame, variant: str, cap: int) -> tuple[int, bool]:
    """Sweeps after which the bound of a variant is below 0.01, and whether it ever is.

    Where runs were cut off the bound never says converged: the cap stands in.
    """
    row = meetings[meetings["chosen"] & (meetings["variant"] == variant)].iloc[0]
    if pd.isna(row["iterations_to_bound_0_01"]):
        return cap, False
    return int(row["iterations_to_bound_0_01"]), True


def sample_noise(
    rng: np.random.Generator,
    experiment: Experiment,
    walk: LatticeWalk,
    *,
    chains: int,
    draws: int,
    burn_in: int,
    converged: bool = True,
) -> Draws:
    """Draw noise at a thinning that the effective sample size justifies.

    A pilot of the same length, every sweep kept, tells how many sweeps an effective draw of the
    slowest cell, or of the norm, takes; so many lie between two kept draws.

    Parameters
    ----------
    rng : numpy.random.Generator
    experiment : Experiment
    walk : LatticeWalk
    chains, draws : int
        Chains, and draws kept from each.
    burn_in : int
        Sweeps before the pilot, and again before the first kept draw.
    converged : bool
        Whether the coupling bound has shown that many sweeps to be enough; kept with the draws.
    """
    pilot, _ = run_chains(rng, walk, draws=2000, chains=chains, burn_in=burn_in)
    norm = walk.mechanism.measure(pilot)[..., None]
    table = pd.concat([convergence(pilot), convergence(norm)])
    moving = table[~table["frozen"]]
    effective = moving[["ess_bulk", "ess_tail"]].min(axis=None) if len(moving) else pilot.size
    thin = max(1, math.ceil(chains * len(pilot[0]) / effective))
    noise, info = run_chains(rng, walk, draws=draws, chains=chains, burn_in=burn_in, thin=thin)
    settings = {
        "burn_in": burn_in,
        "converged": converged,
        "thin": thin,
        "acceptance_rate": info.acceptance_rate,
        "basis": walk.lattice.kind,
        "acceptance": walk.acceptance,
        "proposal": walk.proposal,
    }
    return Draws(noise, experiment.invariants, experiment.cells, settings)


def noise_summary(law: str, draws: Draws) -> pd.DataFrame:
    """Describe the noise of every cell under one law; one row a cell."""
    diagnostics = convergence(draws.noise)
    table = describe_cells(draws.noise, diagnostics)
    table.insert(0, "norm", law)
    table.insert(1, "cell", draws.cells)
    for column in ("rhat", "ess_bulk", "frozen"):
        table[column] = diagnostics[column]
    return table[
        [
            "norm",
            "cell",
            "mean",
            "mcse",
            "sd",
            *table.columns.drop(["norm", "cell", "mean", "mcse", "sd"]),
        ]
    ]


def box_table(law: str, draws: Draws) -> pd.DataFrame:
    """Everything that the noise figure shows of one law, one value a row."""
    table = boxes(draws.noise)
    names = pd.DataFrame({"name": draws.cells})
    return table.join(names, on="cell").assign(norm=law)


def norm_row(law: str, draws: Draws, mechanism: Mechanism) -> dict:
    """Compare the law of the noise's norm with the rule of thumb, Gamma(d, rate epsilon).

    For the Gaussian there is no such rule and `rule_mean` is missing.
    """
    norms = mechanism.measure(draws.noise)
    dimension = degrees_of_freedom(draws.invariants)
    epsilon = getattr(mechanism, "epsilon", np.nan)
    diagnostics = convergence(norms[..., None].astype(float)).iloc[0]
    return {
        "norm": law,
        "dimension": dimension,
        "draws": norms.size,
        "mean": norms.mean(),
        "mcse": diagnostics["mcse_mean"],
        "sd": norms.std(ddof=1),
        "rule_mean": dimension / epsilon,
        "rule_sd": math.sqrt(dimension) / epsilon,
        "mean_by_rule": norms.mean() * epsilon / dimension,
        "sd_by_rule": norms.std(ddof=1) * epsilon / math.sqrt(dimension),
        "off_rule": abs(norms.mean() * epsilon / dimension - 1),
        "rhat": diagnostics["rhat"],
    }


def printed_table(
    printed: Mapping[str, list], draws: Mapping[str, Draws], mechanisms: Mapping[str, Mechanism]
) -> pd.DataFrame:
    """Place the noise tables that the paper prints within our laws.

    Parameters
    ----------
    printed : mapping from law to nested lists of int
        Tables of noise, in the experiment's shape.
    draws, mechanisms : mappings from law
        This run's noise and mechanism.

    Returns
    -------
    DataFrame, one row a printed table
        `margins_off` counts invariants that the printed table breaks; `norm_printed` and its
        `percentile` among the norms drawn here; `epsilon_best`, `epsilon_low` and `epsilon_high`,
        the likelihood interval (95 %) for epsilon of all printed tables together, by the rule of
        thumb that the norm is Gamma(d, rate epsilon).
    """
    rows, dimension = [], 0
    for law, table in printed.items():
        noise = np.asarray(table, dtype=np.int64).ravel()
        invariants = draws[law].invariants
        norm = float(mechanisms[law].measure(noise))
        drawn = mechanisms[law].measure(draws[law].noise).ravel()
        dimension += degrees_of_freedom(invariants)
        rows.append(
            {
                "norm": law,
                "margins_off": int(np.count_nonzero(invariants.apply(noise))),
                "norm_printed": norm,
                "percentile": float(((drawn < norm).mean() + (drawn <= norm).mean()) / 2),
            }
        )
    total = sum(row["norm_printed"] for row in rows)
    best, low, high = epsilon_interval(dimension, total)
    return pd.DataFrame(rows).assign(epsilon_best=best, epsilon_low=low, epsilon_high=high)


def epsilon_interval(
    dimension: int, norm: float, level: float = 0.95
) -> tuple[float, float, float]:
    """Likelihood interval of epsilon for a norm that is Gamma(dimension, rate epsilon).

    Norms of independent draws add up, and so do their dimensions.

    Returns
    -------
    best, low, high : float
        The maximum of the likelihood, and where it has fallen by half the chi-square quantile.
    """
    best = dimension / norm
    drop = special.chdtri(1, 1 - level) / 2

    def beyond(epsilon):
        ratio = epsilon / best
        return dimension * (math.log(ratio) - ratio + 1) + drop

    return best, brentq(beyond, best * 1e-6, best), brentq(beyond, best, best * 50)


def cross_table(table: np.ndarray, axes: Mapping[str, list[str]]) -> pd.DataFrame:
    """Print a contingency table with its totals, the last axis across.

    Parameters
    ----------
    table : int array in the table's shape
    axes : mapping from str to list of str

    Returns
    -------
    DataFrame with a column for each axis but the last, one for each category of the last, and
        Total; the last row holds the totals of the columns, if there is more than one row
    """
    *down, across = axes
    flat = np.asarray(table).reshape(-1, len(axes[across]))
    body = pd.DataFrame(flat, columns=axes[across]).assign(Total=flat.sum(axis=1))
    if not down:
        return body
    names = list(zip(*product(*(axes[axis] for axis in down)), strict=True))
    for axis, column in reversed(list(zip(down, names, strict=True))):
        body.insert(0, axis, column)
    totals = {**dict.fromkeys(down, ""), **body.drop(columns=down).sum().to_dict()}
    totals[down[0]] = "Total"
    return pd.concat([body, pd.DataFrame([totals])], ignore_index=True)
