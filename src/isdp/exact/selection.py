"""One door to the perfect samplers: which of them fits, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError, MisfitError, NoSamplerError
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.bounded_laplace import BoundedCompositionSampler
from isdp.exact.disjoint.compositions import CompositionSampler
from isdp.exact.disjoint.recursive_splitting import SplittingSampler
from isdp.exact.elimination.bounded_sampler import BoundedEliminationSampler
from isdp.exact.elimination.laplace_sampler import EliminationSampler
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.overlapping.klein import KleinSampler
from isdp.exact.overlapping.l2_mixture import MixtureSampler
from isdp.exact.overlapping.staged_rejection import StagedRejectionSampler
from isdp.exact.reductions import reduce
from isdp.exact.sampler import MAX_PROPOSALS
from isdp.mechanisms.base import Mechanism, Target

FEW_CELLS = 100
QUICK_CELLS = 1000  # whose samplers are set up in a second
QUICK_PRODUCTS = 1e9  # of messages that take seconds
QUICK_TRIES = 1e5  # a draw
FEW_TRIES = 1e4  # a draw: milliseconds, and not worth the setting up of messages
MANY_TRIES = 1e6  # in all: seconds, and worth it

SAMPLERS = (
    CompositionSampler,
    KleinSampler,
    SplittingSampler,
    MixtureSampler,
    BoundedEliminationSampler,
    EliminationSampler,
    CellClassSampler,
    BoundedCompositionSampler,
    StagedRejectionSampler,
)
_Kinds = Sequence[tuple[type, dict]]


class _Draws(Protocol):
    method: str
    reason: str
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
        taken for a source of true uniforms. It is 0 for all noise of the l1 norm or Gaussian noise
        that is not bounded.
    expected_proposals : float
        Of a sampler by rejection, an estimate for each draw; else 1.
    """

    method: str
    reason: str
    error: float
    sampler: _Draws

    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw independent noise vectors; int64 (draws, cells), checked against the invariants."""
        return self.sampler.sample(rng, draws)

    def draw(self, random_bits: BitSource, draws: int) -> np.ndarray:
        """Draw in exact arithmetic, where `error` is 0: int64 (draws, cells), not yet checked."""
        return self.sampler.draw(random_bits, draws)

    @property
    def expected_proposals(self) -> float:
        """As above."""
        return getattr(self.sampler, "expected_proposals", 1.0)


def select_sampler(
    mechanism: Target | Mechanism,
    invariants: Invariants,
    lower=None,
    *,
    draws: int = 10_000,
    quick: bool = False,
) -> ExactSampler:
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
    draws : int
        About how many are wanted: many are worth a longer setting up.
    quick : bool
        Take only a sampler that is set up within a second or so, and draws within milliseconds.

    Raises
    ------
    NoSamplerError
        If no perfect sampler is practical: with what each would take, and the alternative.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> select_sampler(GeneralizedLaplace(0.2), Invariants.total(100)).method
    'compositions'
    """
    tried = _Tried(invariants, mechanism, lower)
    if lower is not None:
        sampler = tried.first(_bounded(invariants))
    else:
        sampler = tried.first([(CompositionSampler, {}), (SplittingSampler, {})])
        if sampler is None:
            again = partial(select_sampler, draws=draws, quick=quick)
            sampler = reduce(invariants, mechanism, again)
        if sampler is None:
            sampler = tried.first(_overlapping(invariants, draws, quick))
    if sampler is None:
        raise tried.error()
    reason = ", but ".join([sampler.reason, *tried.refusals.values()])
    return ExactSampler(sampler.method, reason, sampler.error, sampler)


def _bounded(invariants: Invariants) -> _Kinds:
    """Samplers of bounded noise, in the order in which they are tried.

    Of more than a few cells no tree is sought at first, which takes seconds.
    """
    blocks, quick = (
        (BoundedCompositionSampler, {}),
        (BoundedEliminationSampler, {"max_products": QUICK_PRODUCTS}),
    )
    few = invariants.cells <= FEW_CELLS
    return [*([quick, blocks] if few else [blocks, quick]), (BoundedEliminationSampler, {})]


def _overlapping(invariants: Invariants, draws: int, quick: bool) -> _Kinds:
    """Samplers under any totals, in the order in which they are tried.

    Where cells share their types, sums of types bear any size, and come first. Rejection that takes
    few tries in all is not worth the setting up of messages; messages that take longer than seconds
    come last.
    """
    shared = len(find_cell_classes(invariants)[1]) < invariants.cells
    typed: _Kinds = [(CellClassSampler, {})]
    if quick:
        by_tries: _Kinds = [(StagedRejectionSampler, {"max_proposals": QUICK_TRIES})]
        if invariants.cells > QUICK_CELLS:
            return typed
        slow: _Kinds = []
    else:
        few = min(FEW_TRIES, MANY_TRIES / max(draws, 1))
        by_tries = [
            (StagedRejectionSampler, {"max_proposals": few}),
            (EliminationSampler, {"max_products": QUICK_PRODUCTS}),
            (StagedRejectionSampler, {"max_proposals": MAX_PROPOSALS}),
        ]
        slow = [(EliminationSampler, {})]
    iterative = [*typed, *by_tries] if shared else [*by_tries, *typed]
    return [(KleinSampler, {}), (MixtureSampler, {}), *iterative, *slow]


class _Tried:
    """Samplers that were tried in vain: those that do not fit, and those that refused."""

    def __init__(self, invariants: Invariants, law: Target | Mechanism, lower):
        self.asked = invariants, law, lower
        self.misfits: list[str] = []
        self.refusals: dict[str, str] = {}

    def first(self, kinds: _Kinds) -> _Draws | None:
        """Set up the first that is practical; None if none is."""
        for kind, options in kinds:
            try:
                return kind(*self.asked, **options)
            except MisfitError as misfit:
                self.misfits.append(str(misfit))
            except InputError as refusal:
                self.refusals[kind.method] = str(refusal)
        return None

    def error(self) -> NoSamplerError:
        """Say what each sampler that fits would take, or where none does, why not."""
        told = [f"by {method}: {refusal}" for method, refusal in self.refusals.items()]
        if not told:
            return NoSamplerError(
                f"exact: no perfect sampler draws this law here: {'; '.join(self.misfits)}"
            )
        if len(told) == 1:
            return NoSamplerError(next(iter(self.refusals.values())))
        return NoSamplerError(f"exact: no perfect sampler is practical here; {'; '.join(told)}")


def sample(
    rng: np.random.Generator, invariants: Invariants, mechanism: Mechanism, draws: int, lower=None
) -> np.ndarray:
    """Draw independent noise from the mechanism's law itself, without a Markov chain.

    The generator is a pseudo-random one: for experiments; `isdp.exact.release` is for the release
    of confidential data.

    Parameters
    ----------
    lower : int array, shape (cells,), optional
        As in `select_sampler`, which also says which sampler fits and why.

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
    draws = check_integer("exact", "draws", draws)
    return select_sampler(mechanism, invariants, lower, draws=draws).sample(rng, draws)
