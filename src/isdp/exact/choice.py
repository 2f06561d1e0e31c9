"""One door to the perfect samplers: which of them fits, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.blocks import blocks_of, refuse_large_sums, sample_blocks
from isdp.exact.klein import GaussianSampler
from isdp.exact.messages.sampler import DynamicSampler
from isdp.exact.rejection import RejectionSampler
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.gaussian import GeneralizedGaussian
from isdp.mechanisms.laplace import GeneralizedLaplace

LARGEST_DENSE = 2000  # cells up to which a basis of the lattice is reduced in reasonable time


class _Draws(Protocol):
    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells)."""


@dataclass(frozen=True)
class ExactSampler:
    """A perfect sampler that has been set up for one lattice and one law.

    Attributes
    ----------
    method : str
        "compositions", "messages", "mixture", "staged rejection" or "Klein".
    reason : str
        Why this one.
    error : float
        Bound on the total variation distance between a draw's law and the law asked for, apart
        from the rounding of single weights; 0 where nothing is truncated.
    """

    method: str
    reason: str
    error: float
    sampler: _Draws

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw independent noise vectors; int64 (draws, cells), checked against the invariants."""
        return self.sampler.sample(rng, draws)


class BlockSampler:
    """`sample_blocks` with its settings."""

    def __init__(self, invariants: Invariants, epsilon: float):
        sizes = np.bincount(blocks_of(invariants) + 1)[1:]
        refuse_large_sums(int(sizes.max(initial=1)), epsilon)
        self.invariants, self.epsilon = invariants, epsilon

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells)."""
        return sample_blocks(rng, self.invariants, self.epsilon, draws)


def choose(invariants: Invariants, mechanism: Mechanism, lower=None) -> ExactSampler:
    """Choose and set up the perfect sampler that fits.

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    mechanism : Mechanism
        `GeneralizedLaplace` or `GeneralizedGaussian`.
    lower : int array, shape (cells,), optional
        Least noise of each cell. ``-counts`` conditions on a release without negative counts,
        which is another law with another privacy guarantee (CDP, Theorem 2.1).

    Raises
    ------
    InputError
        If no perfect sampler is practical: with what each would take, and the alternative.

    Examples
    --------
    >>> choose(Invariants.total(100), GeneralizedLaplace(0.2)).method
    'compositions'
    """
    blocks = blocks_of(invariants)
    l1 = isinstance(mechanism, GeneralizedLaplace) and mechanism.norm == "l1"
    if lower is None and l1 and blocks is not None:
        reason = "the invariants are totals of disjoint blocks"
        return ExactSampler(
            "compositions", reason, 0.0, BlockSampler(invariants, mechanism.epsilon)
        )
    if invariants.cells > LARGEST_DENSE:
        raise InputError(
            f"exact: {invariants.cells} cells are too many for any perfect sampler but that of l1 "
            f"noise under disjoint totals (up to {LARGEST_DENSE} cells otherwise); use the MCMC "
            f"sampler (isdp.mcmc.sample)"
        )
    if lower is not None:
        sampler = DynamicSampler(invariants, mechanism, lower)
        reason = "the noise is bounded from below, and its law is a product over cells"
        return ExactSampler("messages", reason, sampler.left_out, sampler)
    if isinstance(mechanism, GeneralizedGaussian):
        sampler = GaussianSampler(invariants, mechanism)
        return ExactSampler("Klein", "the law is Gaussian", 0.0, sampler)
    if not l1:
        sampler = RejectionSampler(invariants, mechanism)
        return ExactSampler("mixture", "the norm is l2", 0.0, sampler)
    try:
        sampler = DynamicSampler(invariants, mechanism)
    except InputError as refusal:
        return _reject(invariants, mechanism, refusal)
    reason = "the norm is l1, and few sums are open at a time"
    return ExactSampler("messages", reason, sampler.left_out, sampler)


def _reject(
    invariants: Invariants, mechanism: GeneralizedLaplace, refusal: InputError
) -> ExactSampler:
    try:
        sampler = RejectionSampler(invariants, mechanism)
    except InputError as second:
        raise InputError(
            f"exact: no perfect sampler is practical here; by messages: {refusal}; by rejection: "
            f"{second}"
        ) from None
    return ExactSampler("staged rejection", f"the norm is l1, but {refusal}", 0.0, sampler)


def sample(
    rng: np.random.Generator, invariants: Invariants, mechanism: Mechanism, draws: int, lower=None
) -> np.ndarray:
    """Draw independent noise from the mechanism's law itself, without a Markov chain.

    The generator is a pseudo-random one and weights are in floating point: for experiments;
    `isdp.exact.release` is for the release of confidential data.

    Parameters
    ----------
    rng : numpy.random.Generator
    invariants : Invariants
    mechanism : Mechanism
    draws : int
    lower : int array, shape (cells,), optional
        As in `choose`, which also says which sampler fits and why.

    Returns
    -------
    int64 array, shape (draws, cells)

    Raises
    ------
    InputError
        If no perfect sampler is practical; then `isdp.mcmc.sample` is the alternative.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = sample(rng, Invariants.margins((2, 3)), GeneralizedLaplace(0.5), draws=4)
    >>> noise.shape, int(abs(noise.reshape(4, 2, 3).sum(axis=1)).max())
    ((4, 6), 0)
    """
    return choose(invariants, mechanism, lower).sample(rng, draws)
