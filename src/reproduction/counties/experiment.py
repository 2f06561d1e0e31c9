"""The county experiment (ISDP, Sections 5 and E.4): which states, and what is told of the noise."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.diagnostics.chains import convergence
from isdp.diagnostics.summaries import boxes, describe_cells
from isdp.exact.laws import total_law
from isdp.io.draws import Draws
from isdp.lattice.kernel import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.laplace import GeneralizedLaplace

BAND = 30  # the paper's "overwhelming majority" of the noise lies in [-30, 30]


def sample_state(
    rng: np.random.Generator,
    counties: pd.DataFrame,
    *,
    epsilon: float,
    norm: str,
    chains: int,
    draws: int,
    burn_in: int,
    thin: int,
    basis: str,
    acceptance: str,
    proposal: float,
    overdispersed: Mapping[str, float],
) -> tuple[Draws, dict]:
    """Sample the noise of a state's counties under the state's total.

    Each chain starts where a run at the smaller epsilon of `overdispersed` ends after its
    `sweeps`, which puts the starts further apart than the target's own draws.

    Parameters
    ----------
    rng : numpy.random.Generator
    counties : DataFrame
        From `counties_of`; only its FIPS codes are read, never its counts.
    epsilon, norm
        Of the generalized Laplace mechanism.
    chains, draws, burn_in, thin
        As in `isdp.mcmc.metropolis.run_chains`.
    basis, acceptance, proposal
        As in `isdp.mcmc.metropolis.LatticeWalk`.
    overdispersed : mapping
        `epsilon` and `sweeps`.

    Returns
    -------
    draws : Draws
    speed : dict
        `seconds` of the kept sweeps (burn-in and compilation apart), `updates` (basis vectors
        visited) and `acceptance_rate`.
    """
    invariants = Invariants.total(len(counties), f"population of {counties['state'].iloc[0]}")
    lattice = kernel_lattice(invariants, basis)
    mechanism = GeneralizedLaplace(epsilon, norm)
    wide = GeneralizedLaplace(overdispersed["epsilon"], norm)
    starts, _ = run_chains(
        rng,
        LatticeWalk(lattice, wide, proposal, acceptance),
        draws=1,
        chains=chains,
        burn_in=overdispersed["sweeps"],
    )
    walk = LatticeWalk(lattice, mechanism, proposal, acceptance)
    settled, _ = run_chains(rng, walk, draws=1, chains=chains, burn_in=burn_in, start=starts[:, -1])
    began = time.perf_counter()
    noise, info = run_chains(
        rng, walk, draws=draws, chains=chains, burn_in=0, thin=thin, start=settled[:, -1]
    )
    speed = {
        "seconds": time.perf_counter() - began,
        "updates": info.updates,
        "acceptance_rate": info.acceptance_rate,
    }
    settings = {
        "epsilon": epsilon,
        "norm": norm,
        "burn_in": burn_in,
        "thin": thin,
        "basis": basis,
        "acceptance": acceptance,
        "proposal": proposal,
        "overdispersed": dict(overdispersed),
    }
    return Draws(noise, invariants, counties["fips"].tolist(), settings), speed


def speed_table(states: pd.DataFrame, speeds: Iterable[Mapping]) -> pd.DataFrame:
    """Record updates and effective draws per second of each state's sampling.

    Parameters
    ----------
    states : DataFrame
        Rows from `state_table`.
    speeds : iterable of mappings
        From `sample_state`, each with its state.
    """
    measured = pd.DataFrame(list(speeds))[["state", "seconds", "updates", "acceptance_rate"]]
    table = states[["state", "counties"]].merge(measured, on="state", validate="1:1")
    table["updates_per_second"] = table["updates"] / table["seconds"]
    table["ess_min"] = table["state"].map(states.set_index("state")["ess_min"])
    table["effective_draws_per_second"] = table["ess_min"] / table["seconds"]
    return table


def rhat_table(counties: pd.DataFrame, diagnostics: pd.DataFrame) -> pd.DataFrame:
    """R-hat and effective sample size of every county; one row a county."""
    table = counties[["state", "fips", "county", "population"]].copy()
    for column in ("rhat", "ess_bulk", "ess_tail", "frozen"):
        table[column] = diagnostics[column].to_numpy()
    return table


def noise_table(
    counties: pd.DataFrame, noise: np.ndarray, diagnostics: pd.DataFrame
) -> pd.DataFrame:
    """Describe the noise of every county; one row a county.

    Beside what `isdp.diagnostics.summaries.describe_cells` gives, the share within [-30, 30], and
    `below_zero`: the draws whose released count would be negative.

    Parameters
    ----------
    counties : DataFrame
        The state's counties in the order of the noise's cells.
    noise : int64 array, shape (chain, draw, cell)
    diagnostics : DataFrame
        From `isdp.diagnostics.convergence`.
    """
    flat = noise.reshape(-1, noise.shape[-1])
    table = counties[["state", "fips"]].join(describe_cells(noise, diagnostics))
    table["p_abs_le_30"] = (np.abs(flat) <= BAND).mean(axis=0)
    table["below_zero"] = (counties["population"].to_numpy() + flat < 0).sum(axis=0)
    return table


def state_table(
    counties: pd.DataFrame,
    noise: np.ndarray,
    diagnostics: pd.DataFrame,
    mechanism: GeneralizedLaplace,
) -> pd.DataFrame:
    """One row on a whole state: convergence, exactness, and the exact law beside the sample.

    `sum_violations` counts draws that do not sum to zero, `releases_truncated` draws in which a
    county would be published below zero. `tv_to_exact` is the total variation distance between
    the noise of all counties pooled and the exact law of a cell; it and the other `_exact`
    columns are blank for another norm than l1. `p_abs_le_30_se` is the Monte Carlo error of the
    share of all counties within [-30, 30].
    """
    flat = noise.reshape(-1, noise.shape[-1])
    norm = convergence(mechanism.measure(noise)[..., None], ("rhat", "ess_bulk")).iloc[0]
    negative = (counties["population"].to_numpy() + flat < 0).any(axis=1)
    row = {
        "state": counties["state"].iloc[0],
        "counties": len(counties),
        "chains": noise.shape[0],
        "draws": noise.shape[1],
        "rhat_max": diagnostics["rhat"].max(),
        "ess_min": diagnostics[["ess_bulk", "ess_tail"]].min(axis=None),
        "frozen": int(diagnostics["frozen"].sum()),
        "rhat_norm": norm["rhat"],
        "ess_norm": norm["ess_bulk"],
        "norm_mean": norm["mean"],
        "sum_violations": int((flat.sum(axis=1) != 0).sum()),
        "releases_truncated": int(negative.sum()),
        "p_abs_le_30": (np.abs(flat) <= BAND).mean(),
        "p_abs_le_30_se": _error_of_mean((np.abs(noise) <= BAND).mean(axis=-1)),
        "p_abs_le_30_exact": np.nan,
        "sd": flat.std(),
        "sd_exact": np.nan,
        "tv_to_exact": np.nan,
    }
    if mechanism.norm == "l1":
        law = total_law(len(counties), mechanism.epsilon)
        row["p_abs_le_30_exact"] = law.within(BAND)
        row["sd_exact"] = law.sd
        most = int(law.support[-1])
        seen = np.bincount(np.clip(flat, -most, most).ravel() + most, minlength=len(law.pmf))
        row["tv_to_exact"] = 0.5 * np.abs(seen / flat.size - law.pmf).sum()
    return pd.DataFrame([row])


def _error_of_mean(values: np.ndarray) -> float:
    """Monte Carlo error of the mean of values of shape (chain, draw)."""
    found = convergence(values[..., None], ["mcse_mean"]).iloc[0]
    if found["frozen"]:  # a chain stands at one value, and tells nothing of autocorrelation
        return float(values.std() / np.sqrt(values.size))
    return float(found["mcse_mean"])


def box_table(counties: pd.DataFrame, noise: np.ndarray) -> pd.DataFrame:
    """Everything that the state's figure shows, one value a row.

    Returns
    -------
    DataFrame with columns fips, county, population, rank (1 is the least populous), series and
        value; the series are those of `isdp.diagnostics.summaries.boxes`, and das_error
    """
    errors = pd.DataFrame({"cell": counties.index, "value": counties["das_error"]}).dropna()
    table = pd.concat([boxes(noise), errors.assign(series="das_error")], ignore_index=True)
    table["value"] = table["value"].astype(float)
    named = counties[["fips", "county", "population"]].assign(rank=np.arange(1, len(counties) + 1))
    joined = named.merge(table.sort_values("cell", kind="stable"), left_index=True, right_on="cell")
    return joined.drop(columns="cell")
