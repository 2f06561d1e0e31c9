"""Sample and describe the noise of the county experiment (ISDP, Sections 5 and E.4).

ISDP is *Integer Subspace Differential Privacy*.
"""

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.diagnostics.chains import convergence
from isdp.diagnostics.summaries import boxes, describe_cells
from isdp.exact.distributions import total_distribution
from isdp.io.draws import Draws
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace

MAX_USUAL_NOISE = 30  # persons; the paper's "overwhelming majority" is in [-30, 30]


def sample_state(
    rng: np.random.Generator, counties: pd.DataFrame, *, chains: int, draws: int, **settings
) -> Draws:
    """Sample the noise of a state's counties under the state's total.

    Each chain starts at the end of a run at the smaller epsilon of `overdispersed`. Therefore the
    starts vary more than draws from the target distribution. The function uses the FIPS codes of
    `counties`, and not the counts. `settings` is a result of
    `reproduction.jobs.scenarios.select_walk`.
    """
    invariants = Invariants.total(len(counties), f"population of {counties['state'].iloc[0]}")
    lattice = kernel_lattice(invariants, settings["basis"])

    def run(epsilon: float, **options) -> np.ndarray:
        mechanism = GeneralizedLaplace(epsilon, settings["norm"])
        walk = LatticeWalk(lattice, mechanism, settings["proposal"], settings["acceptance"])
        return run_chains(rng, walk, n_chains=chains, **options)[0]

    wide, epsilon = settings["overdispersed"], settings["epsilon"]
    starts = run(wide["epsilon"], n_draws=1, burn_in=wide["sweeps"])
    settled = run(epsilon, n_draws=1, burn_in=settings["burn_in"], start=starts[:, -1])
    noise = run(epsilon, n_draws=draws, burn_in=0, thin=settings["thin"], start=settled[:, -1])
    return Draws(noise, invariants, counties["fips"].tolist(), settings)


def describe_noise(
    counties: pd.DataFrame, noise: np.ndarray, mechanism: GeneralizedLaplace
) -> dict[str, pd.DataFrame]:
    """Compute convergence diagnostics and summaries of the noise of one state.

    The noise has the shape (chain, draw, cell), with the cells in the order of `counties`. The
    tables rhat, noise and state contain the rows of the state in the tables counties_rhat,
    counties_noise and counties_states.
    """
    diagnostics = convergence(noise)
    flat = noise.reshape(-1, noise.shape[-1])
    negative = counties["population"].to_numpy() + flat < 0
    shown = diagnostics[["rhat", "ess_bulk", "ess_tail", "frozen"]]
    table = counties[["state", "fips"]].join(describe_cells(noise, diagnostics))
    table["p_abs_le_30"] = (np.abs(flat) <= MAX_USUAL_NOISE).mean(axis=0)
    table["below_zero"] = negative.sum(axis=0)
    norm = convergence(mechanism.noise_norm(noise)[..., None], ("rhat", "ess_bulk")).iloc[0]
    within = (np.abs(noise) <= MAX_USUAL_NOISE).mean(axis=-1)
    found = convergence(within[..., None], ["mcse_mean"]).iloc[0]
    # the diagnostics cannot estimate the autocorrelation of a constant chain
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
        "releases_truncated": int(negative.any(axis=1).sum()),
        "p_abs_le_30": (np.abs(flat) <= MAX_USUAL_NOISE).mean(),
        "p_abs_le_30_se": error,
        "p_abs_le_30_exact": np.nan,
        "sd": flat.std(),
        "sd_exact": np.nan,
        "tv_to_exact": np.nan,
    }
    if mechanism.norm == "l1":
        exact = total_distribution(len(counties), mechanism.epsilon)
        limit = int(exact.support[-1])
        seen = np.bincount(np.clip(flat, -limit, limit).ravel() + limit, minlength=len(exact.pmf))
        row["p_abs_le_30_exact"] = exact.within(MAX_USUAL_NOISE)
        row["sd_exact"] = exact.sd
        row["tv_to_exact"] = 0.5 * np.abs(seen / flat.size - exact.pmf).sum()
    return {
        "rhat": counties[["state", "fips", "county", "population"]].join(shown),
        "noise": table,
        "state": pd.DataFrame([row]),
    }


def tabulate_boxes(counties: pd.DataFrame, noise: np.ndarray) -> pd.DataFrame:
    """Tabulate the values that the figure of one state shows, with one value per row.

    The column series has the values of `isdp.diagnostics.summaries.boxes`, and das_error.
    """
    errors = counties["das_error"].dropna().astype(float)
    errors = pd.DataFrame({"cell": errors.index, "series": "das_error", "value": errors})
    return join_counties(
        counties, pd.concat([boxes(noise), errors]).sort_values("cell", kind="stable")
    )


def join_counties(counties: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Replace the column cell by the columns fips, county, population, and rank by population."""
    named = counties[["fips", "county", "population"]].assign(rank=np.arange(1, len(counties) + 1))
    joined = named.merge(
        table, how="right", left_index=True, right_on="cell", validate="one_to_many"
    )
    return joined.drop(columns="cell").reset_index(drop=True)
