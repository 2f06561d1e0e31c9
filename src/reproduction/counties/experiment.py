"""The county experiment (ISDP, Sections 5 and E.4): sampling the noise, and describing it."""

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
    chains: int,
    draws: int,
    **settings,
) -> tuple[Draws, dict]:
    """Sample the noise of a state's counties under the state's total.

    Each chain starts where a run at the smaller epsilon of `overdispersed` ends, which puts the
    starts further apart than the target's own draws.

    Parameters
    ----------
    rng : numpy.random.Generator
    counties : DataFrame
        From `counties_of`. Only its FIPS codes are read, never its counts.
    chains, draws : int
        The number of chains, and of kept draws per chain.
    **settings
        The other keys of the block `counties` that concern the walk.

    Returns
    -------
    draws : Draws
    speed : dict
        `seconds` of the kept sweeps (without burn-in and compilation), `updates` (basis vectors
        visited) and `acceptance_rate`.
    """
    invariants = Invariants.total(len(counties), f"population of {counties['state'].iloc[0]}")
    lattice = kernel_lattice(invariants, settings["basis"])
    wide = settings["overdispersed"]

    def run(epsilon: float, **options):
        mechanism = GeneralizedLaplace(epsilon, settings["norm"])
        walk = LatticeWalk(lattice, mechanism, settings["proposal"], settings["acceptance"])
        return run_chains(rng, walk, chains=chains, **options)

    epsilon = settings["epsilon"]
    starts, _ = run(wide["epsilon"], draws=1, burn_in=wide["sweeps"])
    settled, _ = run(epsilon, draws=1, burn_in=settings["burn_in"], start=starts[:, -1])
    began = time.perf_counter()
    noise, info = run(epsilon, draws=draws, burn_in=0, thin=settings["thin"], start=settled[:, -1])
    speed = {
        "seconds": time.perf_counter() - began,
        "updates": info.updates,
        "acceptance_rate": info.acceptance_rate,
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
    table = states[["state", "counties", "ess_min"]]
    table = table.merge(pd.DataFrame(list(speeds)), on="state", validate="1:1")
    table["updates_per_second"] = table["updates"] / table["seconds"]
    table["effective_draws_per_second"] = table["ess_min"] / table["seconds"]
    return table


def rhat_table(counties: pd.DataFrame, diagnostics: pd.DataFrame) -> pd.DataFrame:
    """R-hat and effective sample size of every county, from `isdp.diagnostics.convergence`."""
    shown = diagnostics[["rhat", "ess_bulk", "ess_tail", "frozen"]]
    return counties[["state", "fips", "county", "population"]].join(shown)


def noise_table(
    counties: pd.DataFrame, noise: np.ndarray, diagnostics: pd.DataFrame
) -> pd.DataFrame:
    """Describe the noise of every county; columns as in the data dictionary, `counties_noise`.

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
    """Describe a whole state in one row: convergence, invariants, and the exact distribution.

    The parameters are those of `noise_table`; the columns are in the data dictionary,
    `counties_states`.
    """
    flat = noise.reshape(-1, noise.shape[-1])
    norm = convergence(mechanism.measure(noise)[..., None], ("rhat", "ess_bulk")).iloc[0]
    within = (np.abs(noise) <= BAND).mean(axis=-1)
    found = convergence(within[..., None], ["mcse_mean"]).iloc[0]
    # a chain that keeps one value says nothing of the autocorrelation
    error = within.std() / np.sqrt(within.size) if found["frozen"] else found["mcse_mean"]
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
        "releases_truncated": int((counties["population"].to_numpy() + flat < 0).any(axis=1).sum()),
        "p_abs_le_30": (np.abs(flat) <= BAND).mean(),
        "p_abs_le_30_se": error,
        "p_abs_le_30_exact": np.nan,
        "sd": flat.std(),
        "sd_exact": np.nan,
        "tv_to_exact": np.nan,
    }
    if mechanism.norm == "l1":
        law = total_law(len(counties), mechanism.epsilon)
        limit = int(law.support[-1])
        seen = np.bincount(np.clip(flat, -limit, limit).ravel() + limit, minlength=len(law.pmf))
        row["p_abs_le_30_exact"] = law.within(BAND)
        row["sd_exact"] = law.sd
        row["tv_to_exact"] = 0.5 * np.abs(seen / flat.size - law.pmf).sum()
    return pd.DataFrame([row])


def box_table(counties: pd.DataFrame, noise: np.ndarray) -> pd.DataFrame:
    """Gather what the figure of one state shows, one value per row.

    The series are those of `isdp.diagnostics.summaries.boxes`, and das_error.
    """
    errors = counties["das_error"].dropna().astype(float)
    errors = pd.DataFrame({"cell": errors.index, "series": "das_error", "value": errors})
    return by_county(counties, pd.concat([boxes(noise), errors]).sort_values("cell", kind="stable"))


def by_county(counties: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Replace the column cell of a table by fips, county, population, and rank by population."""
    named = counties[["fips", "county", "population"]].assign(rank=np.arange(1, len(counties) + 1))
    joined = named.merge(table, how="right", left_index=True, right_on="cell")
    return joined.drop(columns="cell").reset_index(drop=True)
