"""Noise of the lattice experiments, and the paper's printed noise (ISDP, Section 5)."""

import math
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pandas as pd
import scipy
from scipy import special

from isdp.diagnostics.chains import convergence
from isdp.diagnostics.summaries import boxes, describe_cells
from isdp.io.draws import Draws
from isdp.lattice.null_lattice import degrees_of_freedom
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.base import Mechanism
from reproduction.lattices.entry import Experiment


def choose_burn_in(meetings: pd.DataFrame, variant: str, cap: int) -> tuple[int, bool]:
    """Return the sweeps until a variant's bound is below 0.01, and True if that is shown.

    If runs were cut off, the bound shows no convergence, and the cap is returned.
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
    """Draw noise with a thinning that follows from the effective sample size.

    A pilot run keeps every sweep. Its smallest effective sample size, over the cells and the norm,
    gives the number of sweeps between the `draws` kept from each chain. The burn-in precedes the
    pilot and the first kept draw. `converged` states whether the coupling bound shows the burn-in
    to be sufficient, and is stored with the draws.
    """
    pilot, _ = run_chains(rng, walk, n_draws=2000, n_chains=chains, burn_in=burn_in)
    norm = walk.mechanism.noise_norm(pilot)[..., None]
    sizes = "ess_bulk", "ess_tail"
    table = pd.concat([convergence(pilot, sizes), convergence(norm, sizes)])
    moving = table[~table["frozen"]]
    effective = moving[list(sizes)].min(axis=None) if len(moving) else pilot.size
    thin = max(1, math.ceil(chains * len(pilot[0]) / effective))
    noise, info = run_chains(rng, walk, n_draws=draws, n_chains=chains, burn_in=burn_in, thin=thin)
    settings = {
        "law": walk.mechanism.as_dict(),
        "burn_in": burn_in,
        "converged": converged,
        "thin": thin,
        "acceptance_rate": info.acceptance_rate,
        "basis": walk.lattice.kind,
        "acceptance": walk.acceptance,
        "proposal": walk.proposal,
    }
    return Draws(noise, experiment.invariants, experiment.cells, settings)


def summarise_noise(draws: Draws) -> pd.DataFrame:
    """Describe the noise of every cell, one row per cell."""
    diagnostics = convergence(draws.noise, ("rhat", "ess_bulk", "mcse_mean"))
    table = describe_cells(draws.noise, diagnostics).assign(cell=draws.cells)
    table = table.join(diagnostics[["rhat", "ess_bulk", "frozen"]])
    return table.set_index(["cell", "mean", "mcse", "sd"]).reset_index()


def tabulate_boxes(draws: Draws) -> pd.DataFrame:
    """Tabulate the values in the noise figure of one distribution, one value per row."""
    return boxes(draws.noise).join(pd.Series(draws.cells, name="name"), on="cell")


def compare_norm(law: str, draws: Draws, mechanism: Mechanism) -> dict:
    """Compare the norm of the noise with the rule of thumb, Gamma(d, rate epsilon).

    No such rule exists for the Gaussian, whose `rule_mean` is missing.
    """
    norms = mechanism.noise_norm(draws.noise)
    dimension = degrees_of_freedom(draws.invariants)
    epsilon = mechanism.energy.rate if mechanism.energy.of_norm else np.nan
    diagnostics = convergence(norms[..., None], ("rhat", "mcse_mean")).iloc[0]
    mean, sd = norms.mean(), norms.std(ddof=1)
    return {
        "law": law,
        "dimension": dimension,
        "draws": norms.size,
        "mean": mean,
        "mcse": diagnostics["mcse_mean"],
        "sd": sd,
        "rule_mean": dimension / epsilon,
        "rule_sd": math.sqrt(dimension) / epsilon,
        "mean_by_rule": mean * epsilon / dimension,
        "sd_by_rule": sd * epsilon / math.sqrt(dimension),
        "off_rule": abs(mean * epsilon / dimension - 1),
        "rhat": diagnostics["rhat"],
    }


def describe_noise(
    chains: Mapping[str, Draws],
    exact: Mapping[str, Draws],
    mechanisms: Mapping[str, Mechanism],
    experiment: str,
) -> dict[str, pd.DataFrame]:
    """Compute summaries, box plots and norms of the noise of one experiment by distribution.

    The tables exact_summary and exact_boxes are empty if no exact sampler is practical.
    """
    drawn = {law: draws for law, draws in exact.items() if draws.noise.size}
    tables: dict[str, pd.DataFrame] = {}
    for name, describe in (("summary", summarise_noise), ("boxes", tabulate_boxes)):
        tables[name] = _by_law(describe, chains)
        tables[f"exact_{name}"] = _by_law(describe, drawn) if drawn else tables[name][:0]
    norms = pd.DataFrame([compare_norm(law, chains[law], mechanisms[law]) for law in chains])
    norms.insert(0, "experiment", experiment)
    return tables | {"norms": norms}


def _by_law(describe: Callable, draws: Mapping[str, Draws]) -> pd.DataFrame:
    tables = {law: describe(each) for law, each in draws.items()}
    return pd.concat(tables, names=["law"]).reset_index("law")


def place_printed(
    printed: Mapping[str, list], draws: Mapping[str, Draws], mechanisms: Mapping[str, Mechanism]
) -> pd.DataFrame:
    """Compare the noise tables that the paper prints with our draws, one row per table."""
    rows, dimension = [], 0
    for law, table in printed.items():
        noise = np.asarray(table, dtype=np.int64).ravel()
        invariants = draws[law].invariants
        norm = float(mechanisms[law].noise_norm(noise))
        drawn = mechanisms[law].noise_norm(draws[law].noise).ravel()
        low, median, high = np.quantile(drawn, [0.005, 0.5, 0.995])
        dimension += degrees_of_freedom(invariants)
        rows.append(
            {
                "law": law,
                "margins_off": int(np.count_nonzero(invariants.apply(noise))),
                "norm_printed": norm,
                "percentile": float(((drawn < norm).mean() + (drawn <= norm).mean()) / 2),
                "norm_low": low,
                "norm_median": median,
                "norm_high": high,
            }
        )
    placed = pd.DataFrame(rows)
    best, low, high = estimate_epsilon(dimension, placed["norm_printed"].sum())
    return placed.assign(epsilon_best=best, epsilon_low=low, epsilon_high=high)


def estimate_epsilon(
    dimension: int, norm: float, level: float = 0.95
) -> tuple[float, float, float]:
    """Compute a likelihood interval of epsilon for a norm that is Gamma(dimension, rate epsilon).

    Returns the maximum of the likelihood, and the points on either side where the log-likelihood is
    lower by half of the chi-square quantile. For independent draws, pass the sums of their norms
    and dimensions.
    """
    best = dimension / norm
    drop = special.chdtri(1, 1 - level) / 2

    def beyond(epsilon):
        ratio = epsilon / best
        return dimension * (math.log(ratio) - ratio + 1) + drop

    low = scipy.optimize.brentq(beyond, best * 1e-6, best)
    return best, low, scipy.optimize.brentq(beyond, best, best * 50)


def tabulate_counts(table: np.ndarray, axes: Mapping[str, list[str]]) -> pd.DataFrame:
    """Tabulate counts or noise in a table's shape, with totals; the last axis goes across.

    The columns are the axes but the last, the categories of the last axis, and Total. The last row
    has the totals of the columns if there are several rows.
    """
    *down, across = axes
    flat = np.asarray(table).reshape(-1, len(axes[across]))
    body = pd.DataFrame(flat, columns=axes[across]).assign(Total=flat.sum(axis=1))
    if not down:
        return body
    names = pd.DataFrame(product(*(axes[axis] for axis in down)), columns=down)
    totals = {**dict.fromkeys(down, ""), down[0]: "Total", **body.sum()}
    return pd.concat([names.join(body), pd.DataFrame([totals])], ignore_index=True)
