"""A draw of noise under the held totals, with a report on the sampler."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from isdp.arrays import IntArray
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom
from isdp.commands.shared.guarantee import person_distance
from isdp.commands.shared.request import NoiseRequest
from isdp.errors import InputError, NoSamplerError
from isdp.exact import draw_noise, select_sampler
from isdp.exact.release_noise import release_sampler
from isdp.exact.sampler import MAX_CELLS
from isdp.lattice.shortest_vectors import Metric
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.streams import SYSTEM_RANDOMNESS, stream

CHAINS, BURN_IN, KEPT, THIN = 4, 2000, 1000, 5
MAX_RHAT, MIN_ESS = 1.05, 100
MIN_ADVISED_SIGMA = 0.5  # minimum sigma in an advice; noise of smaller scales is weak
FACTORS: Sequence[int] = (1, 2, 4, 8)  # scales that are tried, relative to the request
PSEUDO_RANDOM = "pseudo-random generator PCG64"


@dataclass(frozen=True)
class SamplerReport:
    """A report on a sampler. The report does not depend on the noise drawn.

    Attributes
    ----------
    reason : str
        The reason for the choice of this sampler.
    error_bound : float or None
        Bound on the total variation distance between the sampler's distribution and the requested
        distribution, or None if no bound is known.
    error_words : str
        An explanation of the bound.
    evidence : dict or None
        The settings and convergence diagnostics of a Markov chain.
    """

    method: str
    reason: str
    error_bound: float | None
    error_words: str
    arithmetic: str
    randomness: str
    evidence: dict[str, object] | None = None


@dataclass(frozen=True, eq=False)
class DrawnNoise:
    """The noise of each cell, int64 (cells,), and the report on its sampler."""

    noise: IntArray
    report: SamplerReport


EXACT = SamplerReport(
    method="isdp.draw_noise",
    reason=(
        "integers and ball arithmetic decide every draw; doubles decide comparisons only beyond "
        "their rounding error"
    ),
    error_bound=0,
    error_words="the noise has the exact distribution, without truncation, rounding or convergence",
    arithmetic="exact",
    randomness="the operating system (os.urandom)",
)
BY_CHAIN = SamplerReport(
    method="Markov chain (isdp.mcmc.metropolis)",
    reason="",
    error_bound=None,
    error_words=(
        "a convergence error of unknown size enters the guarantee, and the evidence does not "
        "bound it"
    ),
    arithmetic="floating point",
    randomness=PSEUDO_RANDOM,
    evidence={
        "chains": CHAINS,
        "burn_in_sweeps": BURN_IN,
        "kept_states_a_chain": KEPT,
        "sweeps_between_kept_states": THIN,
        "sweeps_before_the_released_state": BURN_IN + KEPT * THIN,
        "note": "the released state is from a further chain, which is not in the diagnostics",
    },
)


def draw(free: DegreesOfFreedom, request: NoiseRequest) -> DrawnNoise:
    """Draw noise once, in exact arithmetic unless the request is for experiments.

    Raises
    ------
    InputError
        If none of the samplers that the request allows is practical.
    """
    return _draw_for_experiments(free, request) if request.experiment else _release(free, request)


def _release(free: DegreesOfFreedom, request: NoiseRequest) -> DrawnNoise:
    if request.norm == "l2":
        raise InputError(
            "--norm: noise of the l2 norm cannot be drawn in exact arithmetic. Use the l1 norm or "
            "Gaussian noise (rho or sigma), or draw it for experiments (--for-experiments, in "
            "Python experiment=True)."
        )
    try:
        noise = draw_noise(request.mechanism, free.invariants, rng=SYSTEM_RANDOMNESS)[0]
    except InputError as refusal:
        if request.levels is not None:
            raise InputError(f"--levels: {refusal}") from None
        if isinstance(refusal, NoSamplerError):
            raise InputError(_advice(free, request)) from refusal
        raise InputError(
            f"{str(refusal).rstrip('.')}. A release has no other sampler. To allow other samplers, "
            f"add --for-experiments."
        ) from None
    return DrawnNoise(noise, EXACT)


def _advice(free: DegreesOfFreedom, request: NoiseRequest) -> str:
    """Suggest Gaussian noise that has a sampler, if the requested noise has none.

    Its standard deviation is at least that of the requested noise in one cell.
    """
    totals = "--invariants: these totals overlap too much for exact"
    if request.rho is None:
        epsilon, distance = float(request.epsilon or 0), _distance(free, "l1")
        sigma, factors = math.sqrt(0.5) / math.sinh(epsilon / 2), FACTORS
        per = "unit of distance" if distance is None else "person"
        words = f"{totals} Laplace noise at epsilon {epsilon * (distance or 1):g} per {per}"
    else:
        sigma, factors = math.sqrt(0.5 / float(request.rho)), FACTORS[1:]
        words = f"{totals} Gaussian noise at sigma {sigma:.3g}"
    gaussian = _possible_gaussian(free, sigma, factors)
    if gaussian is None:
        return f"{words}, and for other exact noise. Hold fewer totals."
    return (
        f"{words}. Gaussian noise is possible with these totals: give --sigma "
        f"{gaussian.sigma:g} ({_rho_of(gaussian, free)}). Otherwise hold fewer totals."
    )


def _distance(free: DegreesOfFreedom, metric: Metric) -> int | None:
    found = person_distance(free, metric)
    return None if found is None else found.upper


def _possible_gaussian(
    free: DegreesOfFreedom, sigma: float, factors: Sequence[int]
) -> GeneralizedGaussian | None:
    """Find Gaussian noise of at least `sigma` that has a sampler for release."""
    for factor in factors:
        gaussian = GeneralizedGaussian(f"{max(factor * sigma, MIN_ADVISED_SIGMA):.2g}")
        try:
            release_sampler(gaussian, free.invariants)
        except InputError:
            continue
        return gaussian
    return None


def _rho_of(gaussian: GeneralizedGaussian, free: DegreesOfFreedom) -> str:
    distance = _distance(free, "squared l2")
    if distance is None:
        return f"rho {float(gaussian.rho):.3g} per unit of squared distance"
    return f"rho {float(gaussian.rho * distance):.3g} per person"


def _draw_for_experiments(free: DegreesOfFreedom, request: NoiseRequest) -> DrawnNoise:
    rng, source = np.random.default_rng(), f"{PSEUDO_RANDOM}, seeded by the operating system"
    if request.seed is not None:
        rng, source = stream(request.seed, "privatize"), f"{PSEUDO_RANDOM}, seed {request.seed}"
    try:
        sampler = select_sampler(request.mechanism, free.invariants)
    except InputError as refusal:
        if request.levels is not None:
            raise InputError(f"--levels: {refusal}") from None
        if not request.allow_mcmc:
            raise InputError(
                f"--invariants: no exact sampler of {request.mechanism.name} noise is practical "
                f"under these totals. In isdp privatize, add --allow-mcmc to draw by a Markov "
                f"chain with a convergence error of unknown size."
            ) from refusal
        report = replace(BY_CHAIN, reason=str(refusal), randomness=source)
        return _draw_by_chain(rng, free, request.mechanism, report)
    report = SamplerReport(
        method=sampler.method,
        reason=sampler.reason,
        error_bound=sampler.error,
        error_words=(
            "bound of the total variation distance to the distribution, with truncation and "
            "rounding, if the generator's numbers were independent and uniform"
        ),
        arithmetic="floating point" if sampler.error else "exact",
        randomness=source,
    )
    return DrawnNoise(sampler.sample(rng, 1)[0], report)


def _draw_by_chain(
    rng: np.random.Generator, free: DegreesOfFreedom, mechanism: Mechanism, report: SamplerReport
) -> DrawnNoise:
    """Draw the noise by one chain. Diagnostics come from other chains with equal settings."""
    from isdp.mcmc.metropolis import draw_chains

    invariants = free.invariants
    if invariants.cells > MAX_CELLS:
        raise InputError(
            f"--invariants: a Markov chain accepts at most {MAX_CELLS} cells under overlapping "
            f"totals, and there are {invariants.cells}. Hold fewer totals."
        )
    chain = partial(
        draw_chains, mechanism, invariants, rng=rng, basis="lll", acceptance="coordinate"
    )
    chains = chain(n_draws=KEPT, n_chains=CHAINS, burn_in=BURN_IN, thin=THIN)
    diagnostics = _diagnostics(np.delete(chains, free.determined, axis=2))
    evidence = (report.evidence or {}) | diagnostics
    noise = chain(n_draws=1, n_chains=1, burn_in=BURN_IN + KEPT * THIN)[0, 0]
    return DrawnNoise(noise, replace(report, evidence=evidence))


def _diagnostics(chains: IntArray) -> dict[str, float]:
    from isdp.diagnostics.chains import convergence

    try:
        table = convergence(chains, ("rhat", "ess_bulk"))
    except ModuleNotFoundError as missing:
        raise InputError(
            f"--allow-mcmc: convergence diagnostics need {missing.name}, which is not installed. "
            f"Run pip install 'isdp[diagnostics]'."
        ) from None
    rhat, ess = float(table["rhat"].max()), float(table["ess_bulk"].min())
    if table["frozen"].any() or not (rhat <= MAX_RHAT and ess >= MIN_ESS):
        raise InputError(
            f"--allow-mcmc: the Markov chains did not converge (worst R-hat {rhat:.3g}, smallest "
            f"effective sample size {ess:.3g}). Use a larger epsilon or a smaller table."
        )
    return {"worst_rhat": round(rhat, 4), "fewest_effective_draws": round(ess)}
