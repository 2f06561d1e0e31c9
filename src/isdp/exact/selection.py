"""Selection of an exact sampler for a mechanism and invariants.

Samplers are tried in order. A deterministic forecast of the cost decides whether one is practical.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.constraints.invariants import Invariants, find_cell_classes
from isdp.errors import InputError, MisfitError, NoSamplerError
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.bounded_laplace import BoundedCompositionSampler
from isdp.exact.disjoint.compositions import CompositionSampler
from isdp.exact.disjoint.recursive_splitting import SplittingSampler
from isdp.exact.elimination.laplace_sampler import EliminationSampler
from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.overlapping.klein import KleinSampler
from isdp.exact.overlapping.l2_mixture import MixtureSampler
from isdp.exact.overlapping.staged_rejection import StagedRejectionSampler
from isdp.exact.reductions import select_reduced_sampler
from isdp.exact.sampler import MAX_PROPOSALS, RandomBitSampler
from isdp.mechanisms.base import Mechanism, Target

MAX_CELLS_TREE_FIRST = 100  # above it, the search for an elimination tree takes seconds
MAX_CELLS_QUICK = 1000  # their samplers are set up in a second
MAX_PRODUCTS_QUICK = 1e9  # of elimination messages: seconds
MAX_PROPOSALS_QUICK = 1e5  # per draw
MAX_PROPOSALS_FIRST = 1e4  # per draw: milliseconds, less than the set-up of elimination messages
MAX_PROPOSALS_FIRST_IN_ALL = 1e6  # for all draws: seconds

SAMPLERS = (
    CompositionSampler,
    KleinSampler,
    SplittingSampler,
    MixtureSampler,
    TruncatedEliminationSampler,
    EliminationSampler,
    CellClassSampler,
    BoundedCompositionSampler,
    StagedRejectionSampler,
)


class _Sampler(Protocol):
    method: str
    reason: str
    error: float

    def __init__(self, *arguments: object, **options: float) -> None: ...

    def sample(self, rng: np.random.Generator, draws: int) -> NDArray[np.int64]: ...


_Candidates = Sequence[tuple[type[_Sampler], dict[str, float]]]


@dataclass(frozen=True)
class ExactSampler:
    """A sampler without a Markov chain, set up for one lattice and one target distribution.

    Attributes
    ----------
    method : str
        Name of the method, such as "compositions"; "independent parts" if each part has its own.
    reason : str
        Reason for the selection of this sampler.
    error : float
        Bound on the total variation distance between the distribution of a draw and the target,
        from truncation and rounding to 53 bits, given true random numbers. It is 0 for noise
        without bounds that is Gaussian or of the l1 norm.
    """

    method: str
    reason: str
    error: float
    sampler: _Sampler

    def sample(self, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        """Draw independent noise, int64 (n_draws, cells), checked against the invariants."""
        return self.sampler.sample(rng, n_draws)

    def draw(self, bits: BitSource, n_draws: int) -> NDArray[np.int64]:
        """Draw in exact arithmetic, if `error` is 0: int64 (n_draws, cells), not yet checked."""
        if not isinstance(self.sampler, RandomBitSampler):
            raise MisfitError(f"{self.method}: does not draw in exact arithmetic")
        return self.sampler.draw(bits, n_draws)

    @property
    def expected_proposals(self) -> float:
        """Expected number of proposals per draw of a rejection sampler, estimated; else 1."""
        return float(getattr(self.sampler, "expected_proposals", 1))


def select_sampler(
    mechanism: Target | Mechanism,
    invariants: Invariants,
    lower: ArrayLike | None = None,
    *,
    n_draws: int = 10_000,
    quick: bool = False,
) -> ExactSampler:
    """Select and set up an exact sampler.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism; its energy decides which samplers fit.
    lower : int array_like, shape (cells,), optional
        Lower bound on the noise of each cell, as in `isdp.draw_noise`.
    n_draws : int
        Approximate number of draws. A slow set-up pays only for many draws.
    quick : bool
        Restrict the selection to samplers whose set-up takes about a second and whose draws take
        milliseconds.

    Raises
    ------
    NoSamplerError
        If no exact sampler is practical. The message gives the cost of each sampler that fits.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> select_sampler(GeneralizedLaplace(0.2), Invariants.total(100)).method
    'compositions'
    """
    trial = _Trial(invariants, mechanism, lower)
    if lower is not None:
        sampler = trial.first(_bounded(invariants))
    else:
        sampler = trial.first([(CompositionSampler, {}), (SplittingSampler, {})])
        if sampler is None:
            select = partial(select_sampler, n_draws=n_draws, quick=quick)
            sampler = select_reduced_sampler(invariants, mechanism, select)
        if sampler is None:
            sampler = trial.first(_overlapping(invariants, n_draws, quick))
    if sampler is None:
        raise trial.error()
    reason = ", but ".join([sampler.reason, *trial.refusals.values()])
    return ExactSampler(sampler.method, reason, sampler.error, sampler)


def _bounded(invariants: Invariants) -> _Candidates:
    """Samplers of bounded noise, in the order of trial.

    For more than a few cells an elimination tree is not searched for at first.
    """
    blocks: _Candidates = [(BoundedCompositionSampler, {})]
    quick: _Candidates = [(TruncatedEliminationSampler, {"max_products": MAX_PRODUCTS_QUICK})]
    tree_first = invariants.cells <= MAX_CELLS_TREE_FIRST
    first = [*quick, *blocks] if tree_first else [*blocks, *quick]
    return [*first, (TruncatedEliminationSampler, {})]


def _overlapping(invariants: Invariants, n_draws: int, quick: bool) -> _Candidates:
    """Samplers under any totals, in the order of trial.

    If cells share their classes, sums over cell classes serve any size and come first. Rejection
    with few proposals in all is faster than the set-up of elimination messages. Messages that take
    longer than seconds come last.
    """
    shared = len(find_cell_classes(invariants)[1]) < invariants.cells
    by_class: _Candidates = [(CellClassSampler, {})]
    if quick:
        rejection: _Candidates = [(StagedRejectionSampler, {"max_proposals": MAX_PROPOSALS_QUICK})]
        if invariants.cells > MAX_CELLS_QUICK:
            return by_class
        slow: _Candidates = []
    else:
        few = min(MAX_PROPOSALS_FIRST, MAX_PROPOSALS_FIRST_IN_ALL / max(n_draws, 1))
        rejection = [
            (StagedRejectionSampler, {"max_proposals": few}),
            (EliminationSampler, {"max_products": MAX_PRODUCTS_QUICK}),
            (StagedRejectionSampler, {"max_proposals": MAX_PROPOSALS}),
        ]
        slow = [(EliminationSampler, {})]
    iterative = [*by_class, *rejection] if shared else [*rejection, *by_class]
    return [(KleinSampler, {}), (MixtureSampler, {}), *iterative, *slow]


class _Trial:
    """A trial of samplers, with the messages of those that do not fit and those that refused."""

    def __init__(
        self, invariants: Invariants, target: Target | Mechanism, lower: ArrayLike | None
    ) -> None:
        self.arguments = invariants, target, lower
        self.misfits: list[str] = []
        self.refusals: dict[str, str] = {}

    def first(self, candidates: _Candidates) -> _Sampler | None:
        """Set up the first sampler that is practical; None if there is none."""
        for kind, options in candidates:
            try:
                return kind(*self.arguments, **options)
            except MisfitError as misfit:
                self.misfits.append(str(misfit))
            except InputError as refusal:
                self.refusals[kind.method] = str(refusal)
        return None

    def error(self) -> NoSamplerError:
        """State the cost of each sampler that fits, or else the reasons why none fits."""
        reasons = [f"by {method}: {refusal}" for method, refusal in self.refusals.items()]
        if not reasons:
            return NoSamplerError(
                f"exact: no exact sampler draws this distribution here: {'; '.join(self.misfits)}"
            )
        if len(reasons) == 1:
            return NoSamplerError(next(iter(self.refusals.values())))
        return NoSamplerError(f"exact: no exact sampler is practical here; {'; '.join(reasons)}")
