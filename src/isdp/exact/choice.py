"""One door to the perfect samplers: which of them fits, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isdp.constraints.invariants import Invariants, cell_types
from isdp.errors import InputError
from isdp.exact.blocks import BlockSampler, blocks_of
from isdp.exact.bounded import BoundedSampler
from isdp.exact.halving import HalvingSampler
from isdp.exact.klein import GaussianSampler
from isdp.exact.messages.sampler import DynamicSampler
from isdp.exact.mixture import MixtureSampler
from isdp.exact.reduced import reduce
from isdp.exact.staged import StagedSampler
from isdp.exact.typed import TypedSampler
from isdp.mechanisms.base import Mechanism

LARGEST_DENSE = 2000  # cells up to which a basis of the lattice is reduced in reasonable time
QUICK = 1e9  # products of messages that take seconds
FEW = 100  # cells
# from here on halving draws in less time than Klein's sampler, which takes the cube of the cells to
# set up, and errs by rounding
MANY = 300

SAMPLERS = (
    BlockSampler,
    GaussianSampler,
    HalvingSampler,
    MixtureSampler,
    DynamicSampler,
    TypedSampler,
    BoundedSampler,
    StagedSampler,
)
ANY_SIZE = (BlockSampler, HalvingSampler, TypedSampler, BoundedSampler)


class _Draws(Protocol):
    error: float

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise, int64 (draws, cells)."""


@dataclass(frozen=True)
class ExactSampler:
    """A perfect sampler that has been set up for one lattice and one law.

    Attributes
    ----------
    method : str
        "compositions", "bounded compositions", "messages", "mixture", "sums of types", "staged
        rejection", "Klein" or "halving"; or "independent parts" where each part has its own.
    reason : str
        Why this one.
    error : float
        Bound on the total variation distance between a draw's law and the law asked for:
        truncation and the rounding of 53-bit arithmetic together. The pseudo-random generator is
        taken for a source of true uniforms.
    """

    method: str
    reason: str
    error: float
    sampler: _Draws

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw independent noise vectors; int64 (draws, cells), checked against the invariants."""
        return self.sampler.sample(rng, draws)


def choose(invariants: Invariants, mechanism: Mechanism, lower=None) -> ExactSampler:
    """Choose and set up the perfect sampler that fits.

    Parameters
    ----------
    invariants : Invariants
        What every draw u leaves unchanged: A u = 0.
    mechanism : Mechanism
        Any law; its energy decides which samplers fit.
    lower : int array, shape (cells,), optional
        Least noise of each cell. ``-counts`` conditions on a release without negative counts,
        which is another law with another privacy guarantee (CDP, Theorem 2.1).

    Raises
    ------
    InputError
        If no perfect sampler is practical: with what each would take, and the alternative.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> choose(Invariants.total(100), GeneralizedLaplace(0.2)).method
    'compositions'
    """
    if lower is None and blocks_of(invariants) is None:
        reduced = reduce(invariants, mechanism, choose)
        if reduced is not None:
            return ExactSampler(reduced.method, reduced.reason, reduced.error, reduced)
    misfits, refusals = [], {}
    for kind, options in _in_order(invariants):
        try:
            reason = kind.fits(invariants, mechanism, lower)
        except InputError as misfit:
            misfits.append(str(misfit))
            continue
        if invariants.cells > LARGEST_DENSE and kind not in ANY_SIZE:
            refusals[kind.method] = (
                f"exact: {invariants.cells} cells are too many (up to {LARGEST_DENSE}); use the "
                f"MCMC sampler (isdp.mcmc.sample)"
            )
            continue
        try:
            bounds = () if lower is None else (lower,)
            sampler = kind(invariants, mechanism, *bounds, **options)
        except InputError as refusal:
            refusals[kind.method] = str(refusal)
            continue
        reason = ", but ".join([reason, *refusals.values()])
        return ExactSampler(kind.method, reason, sampler.error, sampler)
    raise InputError(_nothing_fits(misfits, refusals))


def _in_order(invariants: Invariants) -> list[tuple[type, dict]]:
    """Samplers in the order in which they are tried: the first that is practical is taken.

    Blocks go first, as they bear any size. Messages that take longer than seconds come last: where
    cells share their types, sums of types are tried before, and else staged rejection. Of more than
    a few cells that share types no tree is sought, which takes seconds too.
    """
    shared = len(cell_types(invariants)[1]) < invariants.cells
    quick, full = (DynamicSampler, {"most_products": QUICK}), (DynamicSampler, {})
    if not shared:
        iterative = [quick, (StagedSampler, {}), (TypedSampler, {}), (BoundedSampler, {}), full]
    elif invariants.cells > FEW:
        iterative = [(TypedSampler, {}), (BoundedSampler, {}), quick, (StagedSampler, {}), full]
    else:
        iterative = [quick, (TypedSampler, {}), (BoundedSampler, {}), (StagedSampler, {}), full]
    gaussian = [GaussianSampler, HalvingSampler]
    if invariants.cells >= MANY:
        gaussian.reverse()
    direct = (BlockSampler, *gaussian, MixtureSampler)
    return [*((kind, {}) for kind in direct), *iterative]


def _nothing_fits(misfits: list[str], refusals: dict[str, str]) -> str:
    """Say what each sampler that fits would take, or where none does, why not."""
    if not refusals:
        return f"exact: no perfect sampler draws this law here: {'; '.join(misfits)}"
    if len(refusals) == 1:
        return next(iter(refusals.values()))
    told = "; ".join(f"by {method}: {refusal}" for method, refusal in refusals.items())
    return f"exact: no perfect sampler is practical here; {told}"


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
    >>> from isdp import GeneralizedLaplace
    >>> rng = np.random.default_rng(1)
    >>> noise = sample(rng, Invariants.margins((2, 3)), GeneralizedLaplace(0.5), draws=4)
    >>> noise.shape, int(abs(noise.reshape(4, 2, 3).sum(axis=1)).max())
    ((4, 6), 0)
    """
    return choose(invariants, mechanism, lower).sample(rng, draws)
