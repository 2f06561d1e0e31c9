"""The experiments once more without a Markov chain, and how far the chains lie from that."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.diagnostics.distance import distance_curve
from isdp.diagnostics.kolmogorov import (
    agreement_rows,
    kolmogorov,
    kolmogorov_bound,
    norm_histogram,
    quantile_table,
)
from isdp.errors import InputError
from isdp.exact.choice import SAMPLERS, choose
from isdp.exact.laws import total_law
from isdp.io.draws import Draws
from isdp.lattice.kernel import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.laplace import GeneralizedLaplace

CHAINS = 4  # groups that exact draws are filed in, like the chains beside them


def exact_draws(
    rng: np.random.Generator,
    invariants: Invariants,
    mechanism: Mechanism,
    cells: list[str],
    draws: int,
    lower=None,
) -> Draws:
    """Draw noise exactly and file it like chains', with the sampler and its error.

    Where no perfect sampler is practical there are no draws, and the settings say why (refused).

    Parameters
    ----------
    rng : numpy.random.Generator
    invariants : Invariants
    mechanism : Mechanism
    cells : list of str
    draws : int
        Rounded up to a multiple of four, for four groups of independent draws.
    lower : int array, shape (cells,), optional
        As in `isdp.exact.choose`.
    """
    each = -(-draws // CHAINS)
    try:
        chosen = choose(invariants, mechanism, lower)
    except InputError as refusal:
        none = np.zeros((CHAINS, 0, invariants.cells), dtype=np.int64)
        return Draws(none, invariants, cells, {"method": "none", "refused": str(refusal)})
    noise = chosen.sample(rng, CHAINS * each).reshape(CHAINS, each, -1)
    settings = {
        "law": mechanism.as_dict(),
        "method": chosen.method,
        "reason": chosen.reason,
        "error": chosen.error,
    }
    return Draws(noise, invariants, cells, settings)


def other_sampler(
    rng: np.random.Generator, invariants: Invariants, mechanism: Mechanism, draws: int
) -> tuple[str, np.ndarray] | None:
    """Draw by an exact sampler that `choose` would not take, where there is one.

    Returns
    -------
    name : str
    noise : int64 array, shape (draws, cells)
    """
    taken = choose(invariants, mechanism).method
    for kind in reversed(SAMPLERS):
        try:
            if kind.method != taken:
                return kind.method, kind(invariants, mechanism).sample(rng, draws)
        except InputError:
            continue
    return None


def samples_of(
    rng: np.random.Generator, mechanism: Mechanism, chains: Mapping[str, Draws], exact: Draws
) -> dict[str, np.ndarray]:
    """Gather what is laid over exact draws: the chains, and another exact sampler's where one is.

    Parameters
    ----------
    rng : numpy.random.Generator
    mechanism : Mechanism
    chains : mapping from sampler to Draws
        Such as "paper", the paper's own chain, and "mcmc", one that mixes sooner.
    exact : Draws

    Returns
    -------
    dict from sampler to int64 array (chain, draw, cell)
    """
    samples = {sampler: draws.noise_of(exact.cells) for sampler, draws in chains.items()}
    if exact.noise.size:
        other = other_sampler(rng, exact.invariants, mechanism, exact.noise[..., 0].size)
        if other:
            samples[other[0]] = other[1][None]
    return samples


def compare_law(
    mechanism: Mechanism,
    exact: Draws,
    samples: Mapping[str, np.ndarray],
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Compare samples with exact draws of one law.

    Parameters
    ----------
    mechanism : Mechanism
    exact : Draws
        Labelled with its experiment, law and unit.
    samples : mapping from sampler to int64 array (chain, draw, cell)

    Returns
    -------
    agreement, norms, quantiles : DataFrame
        As `isdp.diagnostics` makes them, with the columns experiment, law and unit; the first also
        with exact_by, exact_draws, exact_error and a note on the exact sampler.
    """
    flat = exact.noise.reshape(-1, exact.noise.shape[-1])
    labels = {name: exact.settings[name] for name in ("experiment", "law", "unit")}
    told = {
        "exact_by": exact.settings["method"],
        "exact_draws": len(flat),
        "exact_error": exact.settings.get("error", np.nan),
        "note": exact.settings.get("refused", exact.settings.get("reason", "")),
    }
    if not len(flat):
        named = {**labels, "statistic": ""}
        agreement = pd.DataFrame([{**named, "sampler": name, **told} for name in samples])
    else:
        rows = [
            agreement_rows(noise, flat, mechanism, {**labels, "sampler": sampler})
            for sampler, noise in samples.items()
        ]
        agreement = pd.concat(rows, ignore_index=True).assign(**told)
    named = {"exact": flat, **samples} if len(flat) else dict(samples)
    norms = norm_histogram(named, mechanism.measure).assign(**labels)
    return agreement, norms, quantile_table(named, exact.cells).assign(**labels)


def law_series(norms: pd.DataFrame, quantiles: pd.DataFrame) -> pd.DataFrame:
    """Put what a figure of laws shows in one table, told apart by the column series.

    Returns
    -------
    DataFrame with the columns of both and series: norm, or cells
    """
    return pd.concat([norms.assign(series="norm"), quantiles.assign(series="cells")])


def agreement_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Order the columns of all comparisons, and mark those beyond their bound."""
    first = ["experiment", "law", "unit", "sampler", "draws", "statistic", "distance", "bound"]
    told = ["effective", "exact_by", "exact_draws", "exact_error", "note"]
    table = rows.reindex(columns=[*first, *told])  # all may be blank where nothing is exact
    table.insert(len(first), "beyond", table["distance"] > table["bound"])
    return table


def pooled_shares(
    state: str, samples: Mapping[str, np.ndarray], mechanism: GeneralizedLaplace
) -> pd.DataFrame:
    """Share of each value of a county's noise, all counties pooled, beside the exact law (l1).

    Returns
    -------
    DataFrame with columns state, sampler (mcmc, exact, and law), value and share
    """
    parts = []
    for name, noise in samples.items():
        values, counts = np.unique(noise, return_counts=True)
        parts.append(pd.DataFrame({"sampler": name, "value": values, "share": counts / noise.size}))
    if mechanism.norm == "l1":
        law = total_law(noise.shape[-1], mechanism.epsilon)
        near = np.abs(law.support) <= 60
        shown = {"sampler": "law", "value": law.support[near], "share": law.pmf[near]}
        parts.append(pd.DataFrame(shown))
    return pd.concat(parts, ignore_index=True).assign(state=state)


def bound_at_chosen_lag(
    curves: pd.DataFrame, meetings: pd.DataFrame, law: str, variant: str
) -> tuple[pd.DataFrame, int]:
    """Pick the coupling bound of one law and variant at its chosen lag, and its censored runs.

    Parameters
    ----------
    curves, meetings : DataFrame
        Of all laws of one experiment, from `reproduction.lattices.convergence`.
    law, variant : str
    """
    own = meetings[(meetings["law"] == law) & (meetings["variant"] == variant)]
    chosen = own[own["chosen"]].iloc[0]
    alike = (curves["law"] == law) & (curves["variant"] == variant)
    return curves[alike & (curves["lag"] == chosen["lag"])], chosen["censored"]


def follow_lattice(
    rng: np.random.Generator,
    walk: LatticeWalk,
    exact: Draws,
    curves: pd.DataFrame,
    *,
    chains: int,
    points: int,
    longest: int,
) -> pd.DataFrame:
    """Follow a chain's distance at times of its coupling bound.

    Parameters
    ----------
    rng : numpy.random.Generator
    walk : LatticeWalk
    exact : Draws
    curves : DataFrame
        The bound at the chosen lag: columns t, bound and high.
    chains, points : int
        As in `isdp.diagnostics.agreement.distance_curve`; so many of the bound's times are taken.
    longest : int
        Times beyond are left out.

    Returns
    -------
    DataFrame with columns t, statistic, distance, error, bound and high
    """
    curves = curves.sort_values("t").drop_duplicates("t")
    known = curves[(curves["t"] <= longest) & (curves["bound"].shift(fill_value=1) > 0)]
    taken = np.unique(np.linspace(0, len(known) - 1, points).astype(int))
    flat = exact.noise.reshape(-1, exact.noise.shape[-1])
    times = known["t"].iloc[taken].to_list()
    if len(flat):
        followed = distance_curve(rng, walk, flat, chains=chains, times=times)
    else:
        followed = pd.DataFrame(columns=["t", "statistic", "distance", "error"], dtype=float)
    return followed.merge(known[["t", "bound", "high"]], on="t")


def distance_table(followed: pd.DataFrame) -> pd.DataFrame:
    """Set actual distances against bounds, one row an experiment, law, variant and statistic.

    Returns
    -------
    DataFrame
        `first` and `last` distance, `largest_excess` of the distance less its sampling error over
        the bound's upper 99 % limit (below zero where the bound holds), and `needless`: how many
        times longer the bound takes to fall below 0.1 than the distance does.
    """
    keys = ["experiment", "law", "variant", "statistic"]
    columns = ["last_t", "first", "last", "error", "largest_excess", "needless"]
    rows = []
    for key, part in followed.groupby(keys, sort=False):
        part = part.sort_values("t")
        below = {
            column: part.loc[part[column] < 0.1, "t"].min() for column in ("distance", "bound")
        }
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                "last_t": int(part["t"].iloc[-1]),
                "first": part["distance"].iloc[0],
                "last": part["distance"].iloc[-1],
                "error": part["error"].iloc[-1],
                "largest_excess": (part["distance"] - part["error"] - part["high"]).max(),
                "needless": (below["bound"] + 1) / (below["distance"] + 1),
            }
        )
    return pd.DataFrame(rows, columns=[*keys, *columns])


def times_within(burn_in: int, points: int = 14) -> list[int]:
    """Space times from 0 to the end of the burn-in evenly in their logarithm."""
    return np.unique(np.round(np.geomspace(1, burn_in + 1, points)).astype(int) - 1).tolist()


def follow_counties(
    rng: np.random.Generator,
    counties: int,
    exact: np.ndarray,
    *,
    epsilon: float,
    norm: str,
    basis: str,
    acceptance: str,
    proposal: float,
    overdispersed: Mapping[str, float],
    chains: int,
    times: list[int],
) -> pd.DataFrame:
    """Follow the norm of a state's noise from over-dispersed starts to its target.

    Parameters
    ----------
    rng : numpy.random.Generator
    counties : int
    exact : int64 array, shape (chain, draw, county)
        Exact draws of the target.
    epsilon, norm, basis, acceptance, proposal, overdispersed
        As in `reproduction.counties.experiment.sample_state`.
    chains : int
    times : list of int
        Sweeps, increasing from 0.

    Returns
    -------
    DataFrame with columns t, distance and error
    """
    lattice = kernel_lattice(Invariants.total(counties), basis)
    wide = LatticeWalk(
        lattice, GeneralizedLaplace(overdispersed["epsilon"], norm), proposal, acceptance
    )
    mechanism = GeneralizedLaplace(epsilon, norm)
    walk = LatticeWalk(lattice, mechanism, proposal, acceptance)
    starting, running = rng.spawn(2)
    starts, _ = run_chains(starting, wide, draws=1, chains=chains, burn_in=overdispersed["sweeps"])
    between = np.diff(times, prepend=0)
    followed = [
        walk.run(stream, walk.init(start), draws=len(times), thin=between)[0]
        for stream, (start,) in zip(running.spawn(chains), starts, strict=True)
    ]
    norms, target = mechanism.measure(np.array(followed)), mechanism.measure(exact)
    distances = [kolmogorov(then, target) for then in norms.T]
    error = kolmogorov_bound(chains, target.size)
    return pd.DataFrame({"t": times, "distance": distances, "error": error})
