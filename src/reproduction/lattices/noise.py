"""Sample and describe the noise of the lattice experiments (ISDP, Section 5).

ISDP is *Integer Subspace Differential Privacy*.
"""

import math
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pandas as pd
from scipy import special

from isdp.diagnostics.chains import convergence
from isdp.diagnostics.summaries import boxes, describe_cells
from isdp.io.draws import Draws
from isdp.lattice.null_lattice import degrees_of_freedom
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.base import Mechanism, l1_norm, l2_norm
from reproduction.lattices.entry import Experiment


def choose_burn_in(meetings: pd.DataFrame, variant: str, cap: int) -> tuple[int, bool]:
    """Return the number of sweeps until the coupling bound of a variant is below 0.01, and True.

    If the bound does not show convergence, the values are cap and False.
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
    """Draw noise. The effective sample size determines the thinning.

    A pilot run keeps every sweep. The smallest effective sample size of its cells and its norm
    determines the number of sweeps between the `draws` kept from each chain. Both the pilot run and
    the main run begin with `burn_in` sweeps. `converged` is stored with the draws. It is True if
    the coupling bound shows that the burn-in is sufficient.
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
    """Describe the noise of every cell, with one row per cell."""
    diagnostics = convergence(draws.noise, ("rhat", "ess_bulk", "mcse_mean"))
    table = describe_cells(draws.noise, diagnostics).assign(cell=draws.cells)
    table = table.join(diagnostics[["rhat", "ess_bulk", "frozen"]])
    return table.set_index(["cell", "mean", "mcse", "sd"]).reset_index()


def tabulate_boxes(draws: Draws) -> pd.DataFrame:
    """Tabulate the values that the noise figure shows, with one value per row."""
    return boxes(draws.noise).join(pd.Series(draws.cells, name="name"), on="cell")


def compare_norm(law: str, draws: Draws, mechanism: Mechanism) -> dict:
    """Compare the norm of the noise with a continuous approximation, Gamma(d, rate epsilon).

    d is the number of degrees of freedom. The approximation does not apply to Gaussian noise, and
    its columns are then missing.
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
    """Compute summaries, box-plot statistics and norms of the noise for each distribution.

    The tables exact_summary and exact_boxes are empty if there are no exact draws.
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
    """Compare the tables of noise that the paper prints with our draws, with one row per table."""
    rows, dimension = [], 0
    for law, table in printed.items():
        noise = np.asarray(table, dtype=np.int64).ravel()
        invariants = draws[law].invariants
        norm = float(mechanisms[law].noise_norm(noise))
        drawn = mechanisms[law].noise_norm(draws[law].noise).ravel()
        other = l1_norm if mechanisms[law].energy.power == 2 else l2_norm
        shape = float(other(noise)) / norm
        below = _share_below(shape, other(draws[law].noise).ravel() / np.maximum(drawn, 1))
        low, median, high = np.quantile(drawn, [0.005, 0.5, 0.995])
        dimension += degrees_of_freedom(invariants)
        rows.append(
            {
                "law": law,
                "margins_off": int(np.count_nonzero(invariants.apply(noise))),
                "norm_printed": norm,
                "percentile": _share_below(norm, drawn),
                "norm_low": low,
                "norm_median": median,
                "norm_high": high,
                "shape_printed": shape,
                "shape_p_value": 2 * min(below, 1 - below),
            }
        )
    placed = pd.DataFrame(rows)
    best, low, high = estimate_epsilon(dimension, placed["norm_printed"].sum())
    return placed.assign(epsilon_best=best, epsilon_low=low, epsilon_high=high)


def _share_below(value: float, draws: np.ndarray) -> float:
    """Compute the share of draws below a value, plus half of the ties."""
    return float(((draws < value).mean() + (draws <= value).mean()) / 2)


def estimate_epsilon(dimension: int, norm: float) -> tuple[float, float, float]:
    """Compute a likelihood interval of epsilon from a norm that is Gamma(d, rate epsilon).

    d is `dimension`. The values are the maximum likelihood estimate and the limits of the 95 %
    interval. The log-likelihood is d (ln r - r + 1), where r is the ratio of epsilon to the
    estimate. At the limits, it is below its maximum by half of the chi-square quantile. For several
    independent draws, pass the sums of their dimensions and norms.
    """
    best, drop = dimension / norm, special.chdtri(1, 0.05) / 2
    low, high = (-special.lambertw(-np.exp(-1 - drop / dimension), k).real for k in (0, -1))
    return best, low * best, high * best


def tabulate_counts(table: np.ndarray, axes: Mapping[str, list[str]]) -> pd.DataFrame:
    """Tabulate counts or noise with totals.

    The columns are all axes except the last, the categories of the last axis, and Total. If the
    table has two or more axes, the last row contains the totals of the columns.
    """
    *row_axes, last_axis = axes
    flat = np.asarray(table).reshape(-1, len(axes[last_axis]))
    body = pd.DataFrame(flat, columns=axes[last_axis]).assign(Total=flat.sum(axis=1))
    if not row_axes:
        return body
    names = pd.DataFrame(product(*(axes[axis] for axis in row_axes)), columns=row_axes)
    totals = {**dict.fromkeys(row_axes, ""), row_axes[0]: "Total", **body.sum()}
    return pd.concat([names.join(body), pd.DataFrame([totals])], ignore_index=True)
