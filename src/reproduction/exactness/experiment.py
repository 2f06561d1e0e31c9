"""Exact draws of the experiments, and the distance of the chains from them.

A mapping `samples` gives the noise of each sampler, int64 of shape (chain, draw, cell). The sampler
"paper" is the paper's chain, and "mcmc" is a chain that mixes faster.
"""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.diagnostics.kolmogorov import (
    agreement_rows,
    kolmogorov_bound,
    kolmogorov_distance,
    norm_histogram,
    quantile_table,
)
from isdp.errors import InputError
from isdp.exact.distributions import total_distribution
from isdp.exact.selection import SAMPLERS, select_sampler
from isdp.io.draws import Draws
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from isdp.streams import stream
from reproduction.exactness.chain_distance import DISTANCE_COLUMNS, distance_curve, follow_chains

N_GROUPS = 4  # The number of groups of exact draws. Each group is stored like a chain.


def draw_exactly(
    rng: np.random.Generator,
    invariants: Invariants,
    mechanism: Mechanism,
    cells: list[str],
    draws: int,
    lower=None,
) -> Draws:
    """Draw noise exactly, and store it in the format of the chains.

    The number of draws is rounded up until four divides it. If no exact sampler is practical, the
    result has no draws and gives the reason in the setting `refused`.
    """
    each = -(-draws // N_GROUPS)
    try:
        chosen = select_sampler(mechanism, invariants, lower)
    except InputError as refusal:
        none = np.zeros((N_GROUPS, 0, invariants.cells), dtype=np.int64)
        return Draws(none, invariants, cells, {"method": "none", "refused": str(refusal)})
    noise = chosen.sample(rng, N_GROUPS * each).reshape(N_GROUPS, each, -1)
    details = {"method": chosen.method, "reason": chosen.reason, "error": chosen.error}
    return Draws(noise, invariants, cells, {"law": mechanism.as_dict(), **details})


def draw_by_other_sampler(
    rng: np.random.Generator, invariants: Invariants, mechanism: Mechanism, draws: int
) -> tuple[str, np.ndarray] | None:
    """Draw noise with an exact sampler other than the one that `select_sampler` selects.

    Returns the name of the sampler and its draws, or None if there is no other sampler.
    """
    taken = select_sampler(mechanism, invariants).method
    for kind in reversed(SAMPLERS):
        if kind.method != taken:
            with suppress(InputError):
                return kind.method, kind(invariants, mechanism).sample(rng, draws)
    return None


def gather_samples(
    rng: np.random.Generator, mechanism: Mechanism, chains: Mapping[str, Draws], exact: Draws
) -> dict[str, np.ndarray]:
    """Collect the draws of all chains, and of a second exact sampler if there is one."""
    samples = {sampler: draws.noise_of(exact.cells) for sampler, draws in chains.items()}
    if exact.noise.size:
        other = draw_by_other_sampler(rng, exact.invariants, mechanism, exact.noise[..., 0].size)
        if other:
            samples[other[0]] = other[1][None]
    return samples


def compare_distribution(
    mechanism: Mechanism, exact: Draws, samples: Mapping[str, np.ndarray]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare samples with exact draws of the same distribution.

    The first table has the rows of `agreement_rows`. The second table has the histogram of the norm
    and the quantiles of the cells, for each sampler.
    """
    flat = exact.noise.reshape(-1, exact.noise.shape[-1])
    labels = {name: exact.settings[name] for name in ("experiment", "law", "unit")}
    if len(flat):
        rows = [
            agreement_rows(noise, flat, mechanism, {"sampler": sampler})
            for sampler, noise in samples.items()
        ]
        agreement = pd.concat(rows, ignore_index=True)
        samples = {"exact": flat, **samples}
    else:
        agreement = pd.DataFrame({"sampler": list(samples), "statistic": ""})
    agreement = agreement.assign(
        **labels,
        exact_by=exact.settings["method"],
        exact_draws=len(flat),
        exact_error=exact.settings.get("error", np.nan),
        note=exact.settings.get("refused", exact.settings.get("reason", "")),
    )
    series = {
        "norm": norm_histogram(samples, mechanism.noise_norm),
        "cells": quantile_table(samples, exact.cells),
    }
    laws = pd.concat(series, names=["series"]).reset_index("series")
    return agreement, laws.assign(**labels)


def compare_distributions(
    seed: int,
    experiment: str,
    mechanisms: Mapping[str, Mechanism],
    chains: Mapping[str, Mapping[str, Draws]],
    exact: Mapping[str, Draws],
) -> dict[str, pd.DataFrame]:
    """Compare the chains of one experiment, and a second exact sampler, with exact draws.

    The keys of `chains` are samplers, and the keys of all other mappings are distributions. Returns
    the tables of `compare_distribution`.
    """
    compared = []
    for law, mechanism in mechanisms.items():
        rng = stream(seed, f"second exact sampler {experiment}", law)
        own = {sampler: draws[law] for sampler, draws in chains.items()}
        samples = gather_samples(rng, mechanism, own, exact[law])
        compared.append(compare_distribution(mechanism, exact[law], samples))
    agreement, laws = map(pd.concat, zip(*compared, strict=True))
    return {"agreement": agreement, "laws": laws}


def tabulate_agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """Combine all comparisons in one table, and mark each distance above its bound."""
    first = ["experiment", "law", "unit", "sampler", "draws", "statistic", "distance", "bound"]
    others = ["p_value", "detectable", "beyond", "effective", "exact_by", "exact_draws"]
    others += ["exact_error", "note"]
    table = rows.reindex(columns=[*first, *others])
    return table.assign(beyond=table["distance"] > table["bound"])


def pool_shares(samples: Mapping[str, np.ndarray], mechanism: GeneralizedLaplace) -> pd.DataFrame:
    """Compute the share of each value of the noise for each sampler, pooled over all counties.

    For the l1 norm, the exact distribution from -60 to 60 persons is added as the sampler `law`.
    """
    parts = {
        name: pd.Series(noise.ravel()).value_counts(normalize=True).sort_index()
        for name, noise in samples.items()
    }
    if mechanism.norm == "l1":
        cells = next(iter(samples.values())).shape[-1]
        law = total_distribution(cells, mechanism.epsilon)
        parts["law"] = pd.Series(law.pmf, law.support).loc[-60:60]
    return pd.concat(parts, names=["sampler", "value"]).rename("share").reset_index()


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
    """Measure the distance of independent chains from their target, and list the coupling bound.

    `curves` gives the bound at the chosen lag. The distance is measured at up to `points` of its
    iterations, and not after the iteration `longest`.
    """
    curves = curves.sort_values("t").drop_duplicates("t")
    known = curves[(curves["t"] <= longest) & (curves["bound"].shift(fill_value=1) > 0)]
    taken = np.unique(np.linspace(0, len(known) - 1, points).astype(int))
    flat = exact.noise.reshape(-1, exact.noise.shape[-1])
    times = known["t"].iloc[taken].to_list()
    if len(flat):
        followed = distance_curve(rng, walk, flat, chains=chains, times=times)
    else:
        followed = pd.DataFrame(columns=DISTANCE_COLUMNS, dtype=float)
    bounds = known[["t", "bound", "high", "censored"]]
    return followed.merge(bounds, on="t", validate="many_to_one")


def follow_distributions(
    seed: int,
    experiment: str,
    walks: Mapping[tuple[str, str], LatticeWalk],
    exact: Mapping[str, Draws],
    curves: pd.DataFrame,
    settings: Mapping,
) -> pd.DataFrame:
    """Measure the distances of one lattice experiment, for each distribution and variant.

    `curves` gives the coupling bounds at all lags. The settings are the options of
    `follow_lattice`.
    """
    followed = {}
    for (law, variant), walk in walks.items():
        rng = stream(seed, f"distance {experiment}", f"{law} {variant}")
        own = curves[(curves["law"] == law) & (curves["variant"] == variant) & curves["chosen"]]
        followed[law, variant] = follow_lattice(rng, walk, exact[law], own, **settings)
    table = pd.concat(followed, names=["law", "variant"]).reset_index(["law", "variant"])
    return table.assign(experiment=experiment)


def tabulate_distances(followed: pd.DataFrame) -> pd.DataFrame:
    """Compare the measured distances of each experiment with their coupling bounds."""
    keys = ["experiment", "law", "variant", "statistic"]
    followed = followed.sort_values("t", kind="stable", ignore_index=True)
    followed = followed.assign(
        excess=followed["distance"] - followed["error"] - followed["high"],
        distance_below=followed["t"].where(followed["distance"] < 0.1),
        bound_below=followed["t"].where(followed["bound"] < 0.1),
    )
    table = followed.groupby(keys, sort=False).agg(
        last_t=("t", "last"),
        first=("distance", "first"),
        last=("distance", "last"),
        error=("error", "last"),
        largest_excess=("excess", "max"),
        detectable=("detectable", "last"),
        needless=("bound_below", "min"),
        distance_below=("distance_below", "min"),
    )
    table["needless"] = (table["needless"] + 1) / (table.pop("distance_below") + 1)
    return table.reset_index()


def space_times(burn_in: int) -> list[int]:
    """List sweeps from 0 to the end of the burn-in, equally spaced on a logarithmic scale."""
    return np.unique(np.round(np.geomspace(1, burn_in + 1, 14)).astype(int) - 1).tolist()


def follow_counties(
    rng: np.random.Generator, exact: np.ndarray, settings: Mapping, *, chains: int, times: list[int]
) -> pd.DataFrame:
    """Measure the distance of a state's chains from their target after over-dispersed starts.

    The settings epsilon, norm, basis, acceptance, proposal and overdispersed are those of the block
    "counties". The distance is measured at the sweeps `times`, which increase from 0.
    """
    lattice = kernel_lattice(Invariants.total(exact.shape[-1]), settings["basis"])
    starting, running = rng.spawn(2)
    wide = settings["overdispersed"]
    walk, start_walk = (
        LatticeWalk(
            lattice,
            GeneralizedLaplace(epsilon, settings["norm"]),
            settings["proposal"],
            settings["acceptance"],
        )
        for epsilon in (settings["epsilon"], wide["epsilon"])
    )
    starts, _ = run_chains(starting, start_walk, n_draws=1, n_chains=chains, burn_in=wide["sweeps"])
    followed = follow_chains(running, walk, [walk.init(start) for (start,) in starts], times)
    norms, target = map(walk.mechanism.noise_norm, (followed, exact))
    distances = [kolmogorov_distance(each, target) for each in norms]
    error = kolmogorov_bound(chains, target.size)
    return pd.DataFrame({"t": times, "distance": distances, "error": error})


def compare_counties(
    seed: int,
    drawn: Mapping[str, Draws],
    exact: Mapping[str, Draws],
    *,
    walk: Mapping,
    chains: int,
    burn_in: int,
) -> dict[str, pd.DataFrame]:
    """Compare the chains of all states with exact draws.

    `walk` has the settings of `follow_counties`. `chains` is the number of chains per state.
    """
    mechanism, times = GeneralizedLaplace(walk["epsilon"], walk["norm"]), space_times(burn_in)
    tables: dict[str, dict] = {"agreement": {}, "shares": {}, "distances": {}}
    for state, draws in exact.items():
        samples = {"mcmc": drawn[state].noise_of(draws.cells)}
        tables["agreement"][state], _ = compare_distribution(mechanism, draws, samples)
        tables["shares"][state] = pool_shares({**samples, "exact": draws.noise}, mechanism)
        rng = stream(seed, "distance counties", state)
        followed = follow_counties(rng, draws.noise, walk, chains=chains, times=times)
        tables["distances"][state] = followed
    return {
        name: pd.concat(by_state, names=["state"]).reset_index("state")
        for name, by_state in tables.items()
    }
