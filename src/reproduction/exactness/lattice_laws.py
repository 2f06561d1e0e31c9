"""Chains of the lattice experiments, compared with exact draws under every law."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from isdp.io.draws import Draws
from isdp.mechanisms.base import Mechanism
from isdp.seeds import stream
from reproduction.exactness.experiment import compare_law, law_series, samples_of


def compare_laws(
    seed: int,
    experiment: str,
    mechanisms: Mapping[str, Mechanism],
    chains: Mapping[str, Mapping[str, Draws]],
    exact: Mapping[str, Draws],
) -> dict[str, pd.DataFrame]:
    """Compare the chains of one experiment, and a second exact sampler, with exact draws.

    Parameters
    ----------
    seed : int
        Of the run; the second exact sampler draws random numbers.
    experiment : str
        Name of the experiment.
    mechanisms : mapping from law to Mechanism
    chains : mapping from sampler to mapping from law to Draws
        Such as "paper", the paper's own chain, and "mcmc", one that mixes sooner.
    exact : mapping from law to Draws

    Returns
    -------
    dict of DataFrame
        agreement, from `compare_law`, and laws, from `law_series`.
    """
    compared = []
    for law, mechanism in mechanisms.items():
        rng = stream(seed, f"second exact sampler {experiment}", law)
        own = {sampler: draws[law] for sampler, draws in chains.items()}
        compared.append(
            compare_law(mechanism, exact[law], samples_of(rng, mechanism, own, exact[law]))
        )
    agreement, norms, quantiles = map(pd.concat, zip(*compared, strict=True))
    return {"agreement": agreement, "laws": law_series(norms, quantiles)}
