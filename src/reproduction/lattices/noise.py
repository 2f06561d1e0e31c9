"""Noise of the lattice experiments, and what the papers print of it (ISDP, Section 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
import scipy
from scipy import special

from isdp.diagnostics.chains import convergence
from isdp.diagnostics.summaries import boxes, describe_cells
from isdp.io.draws import Draws
from isdp.lattice.kernel import degrees_of_freedom
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.base import Mechanism
from reproduction.lattices.entry import Experiment


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
    sizes = "ess_bulk", "ess_tail"
    table = pd.concat([convergence(pilot, sizes), convergence(norm, sizes)])
    moving = table[~table["frozen"]]
    effective = moving[list(sizes)].min(axis=None) if len(moving) else pilot.size
    thin = max(1, math.ceil(chains * len(pilot[0]) / effective))
    noise, info = run_chains(rng, walk, draws=draws, chains=chains, burn_in=burn_in, thin=thin)
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


def noise_summary(law: str, draws: Draws) -> pd.DataFrame:
    """Describe the noise of every cell under one law; one row per cell."""
    diagnostics = convergence(draws.noise, ("rhat", "ess_bulk", "mcse_mean"))
    table = describe_cells(draws.noise, diagnostics)
    table.insert(0, "law", law)
    table.insert(1, "cell", draws.cells)
    for column in ("rhat", "ess_bulk", "frozen"):
        table[column] = diagnostics[column]
    return table[
        [
            "law",
            "cell",
            "mean",
            "mcse",
            "sd",
            *table.columns.drop(["law", "cell", "mean", "mcse", "sd"]),
        ]
    ]


def box_table(law: str, draws: Draws) -> pd.DataFrame:
    """Everything that the noise figure shows of one law, one value a row."""
    table = boxes(draws.noise)
    names = pd.DataFrame({"name": draws.cells})
    return table.join(names, on="cell").assign(law=law)


def norm_row(law: str, draws: Draws, mechanism: Mechanism) -> dict:
    """Compare the law of the noise's norm with the rule of thumb, Gamma(d, rate epsilon).

    For the Gaussian there is no such rule and `rule_mean` is missing.
    """
    norms = mechanism.measure(draws.noise)
    dimension = degrees_of_freedom(draws.invariants)
    epsilon = mechanism.energy.rate if mechanism.energy.of_norm else np.nan
    diagnostics = convergence(norms[..., None], ("rhat", "mcse_mean")).iloc[0]
    return {
        "law": law,
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


def noise_tables(
    chains: Mapping[str, Draws],
    exact: Mapping[str, Draws],
    mechanisms: Mapping[str, Mechanism],
    experiment: str,
) -> dict[str, pd.DataFrame]:
    """Describe the noise of one experiment under all its laws, by chains and by exact draws.

    Parameters
    ----------
    chains, exact : mappings from law to Draws
        Exact draws are empty where no perfect sampler is practical.
    mechanisms : mapping from law to Mechanism
    experiment : str
        Name of the experiment.

    Returns
    -------
    dict of DataFrame
        summary and exact_summary from `noise_summary`, boxes and exact_boxes from `box_table`
        (those of exact draws have no rows where there are none), and norms from `norm_row`.
    """
    drawn = {law: draws for law, draws in exact.items() if draws.noise.size}
    tables: dict[str, pd.DataFrame] = {}
    for name, describe in (("summary", noise_summary), ("boxes", box_table)):
        tables[name] = pd.concat([describe(law, draws) for law, draws in chains.items()])
        found = [describe(law, draws) for law, draws in drawn.items()]
        tables[f"exact_{name}"] = pd.concat(found) if found else tables[name][:0]
    norms = [norm_row(law, draws, mechanisms[law]) for law, draws in chains.items()]
    tables["norms"] = pd.DataFrame(norms).assign(experiment=experiment)
    return tables


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
        `percentile` among the norms drawn here, whose median is `norm_median` and of which 99 % lie
        between `norm_low` and `norm_high`; `epsilon_best`, `epsilon_low` and `epsilon_high`,
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
                "law": law,
                "margins_off": int(np.count_nonzero(invariants.apply(noise))),
                "norm_printed": norm,
                "percentile": float(((drawn < norm).mean() + (drawn <= norm).mean()) / 2),
                **dict(
                    zip(
                        ("norm_low", "norm_median", "norm_high"),
                        np.quantile(drawn, [0.005, 0.5, 0.995]),
                        strict=True,
                    )
                ),
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

    return (
        best,
        scipy.optimize.brentq(beyond, best * 1e-6, best),
        scipy.optimize.brentq(beyond, best, best * 50),
    )


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
