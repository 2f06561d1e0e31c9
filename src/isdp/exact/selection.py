"""Selection of an exact sampler for a mechanism and invariants.

The first practical sampler in a fixed order is selected. Forecasts of the cost are deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from isdp.exact.nested.crossing_sampler import CrossingSampler
from isdp.exact.nested.gaussian_sampler import NestedGaussianSampler
from isdp.exact.nested.laplace_sampler import NestedLaplaceSampler
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.overlapping.crossed_gaussian import CrossedTotalsSampler
from isdp.exact.overlapping.klein import KleinSampler
from isdp.exact.overlapping.l2_mixture import MixtureSampler
from isdp.exact.reductions import select_reduced_sampler
from isdp.exact.sampler import USE_CHAIN, RandomBitSampler
from isdp.mechanisms.base import Mechanism, Target

MAX_CELLS_TREE_FIRST = 100  # with more cells, the search for an elimination tree takes seconds
MAX_CELLS_QUICK = 1000  # with more cells, the set-up takes more than a second
MAX_PRODUCTS_QUICK = 1e9  # maximum number of products of messages; this number takes seconds
MAX_PROPOSALS_QUICK = 10  # maximum expected number of proposals per draw, for large tables
MAX_SUMS_QUICK = 1e6  # maximum number of class sums per draw; this number takes half a second
# draws with fewer class sums than these numbers are faster than the set-up of messages
MAX_SUMS_FIRST = 1e4  # per draw
MAX_SUMS_FIRST_IN_ALL = 1e6  # for all draws together

SET_SAMPLERS = (NestedGaussianSampler, NestedLaplaceSampler, CrossingSampler)
SAMPLERS = (  # all samplers of noise without lower bounds
    CompositionSampler,
    CrossedTotalsSampler,
    KleinSampler,
    SplittingSampler,
    *SET_SAMPLERS,
    MixtureSampler,
    TruncatedEliminationSampler,
    EliminationSampler,
    CellClassSampler,
)


class _Sampler(Protocol):
    method: str
    reason: str
    error: float

    def __init__(self, *arguments: object, **options: object) -> None: ...

    def sample(self, rng: np.random.Generator, draws: int) -> NDArray[np.int64]: ...


_Candidates = Sequence[tuple[type[_Sampler], Mapping[str, object]]]


@dataclass(frozen=True)
class ExactSampler:
    """A sampler without a Markov chain, which is set up for one lattice and one target.

    Attributes
    ----------
    method : str
        The name of the algorithm, such as "compositions". The name is "independent parts" if each
        part has an algorithm of its own.
    reason : str
        The reason for the selection of this sampler.
    error : float
        A bound on the total variation distance between the distribution of a draw and the target,
        given true random numbers. The bound includes truncation and rounding. It is 0 for Gaussian
        noise and for l1 noise if there are no lower bounds.
    """

    method: str
    reason: str
    error: float
    sampler: _Sampler

    def sample(self, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        """Draw independent noise, int64 (n_draws, cells), and check its invariants."""
        return self.sampler.sample(rng, n_draws)

    def draw(self, bits: BitSource, n_draws: int) -> NDArray[np.int64]:
        """Draw independent noise in exact arithmetic, int64 (n_draws, cells), without a check.

        Raises
        ------
        MisfitError
            If `error` is not 0.
        """
        if not isinstance(self.sampler, RandomBitSampler):
            raise MisfitError(f"{self.method}: does not draw in exact arithmetic")
        return self.sampler.draw(bits, n_draws)

    @property
    def expected_proposals(self) -> float:
        """The estimated number of proposals per draw, which is 1 without rejection."""
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
    lower : int array_like, shape (cells,), optional
        The lower bound on the noise of each cell, as in `isdp.draw_noise`.
    n_draws : int
        The approximate number of draws. A slow set-up is worthwhile only for many draws.
    quick : bool
        Restrict the selection to samplers with a set-up of about a second and fast draws.

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
    trial = _Trial(invariants, mechanism)
    if mechanism.energy is None and mechanism.set_energy is not None:
        if lower is not None:
            raise NoSamplerError(
                f"lower: {mechanism.name} noise has no sampler with lower bounds. Omit lower."
            )
        sampler = trial.first([(each, {}) for each in SET_SAMPLERS])
    elif lower is not None:
        sampler = trial.first(_bounded(invariants, lower))
    else:
        sampler = trial.first([(CompositionSampler, {}), (SplittingSampler, {})])
        if sampler is None:
            select = partial(select_sampler, n_draws=n_draws, quick=quick)
            sampler = select_reduced_sampler(invariants, mechanism, select)
        if sampler is None:
            sampler = trial.first(_overlapping(invariants, n_draws, quick))
    if sampler is None:
        raise trial.error()
    trial.refusals.pop(sampler.method, None)
    reason = ", but ".join([sampler.reason, *trial.refusals.values()])
    return ExactSampler(sampler.method, reason, sampler.error, sampler)


def _bounded(invariants: Invariants, lower: ArrayLike) -> _Candidates:
    """List the samplers of noise with lower bounds in the order of the search."""
    blocks: _Candidates = [(BoundedCompositionSampler, {"lower": lower})]
    messages: _Candidates = [(TruncatedEliminationSampler, {"lower": lower})]
    options = {"lower": lower, "max_products": MAX_PRODUCTS_QUICK}
    quick: _Candidates = [(TruncatedEliminationSampler, options)]
    tree_first = invariants.cells <= MAX_CELLS_TREE_FIRST
    return [*quick, *blocks, *messages] if tree_first else [*blocks, *quick, *messages]


def _overlapping(invariants: Invariants, n_draws: int, quick: bool) -> _Candidates:
    """List the samplers under overlapping totals in the order of the search.

    The sampler by sums of classes precedes variable elimination if cells share classes or few sums
    are needed. Otherwise, it follows the elimination messages whose set-up takes seconds.
    """
    shared = len(find_cell_classes(invariants)[1]) < invariants.cells
    options = {"max_proposals": MAX_PROPOSALS_QUICK} if quick else {}
    crossed: _Candidates = [(CrossedTotalsSampler, options)]
    if quick and invariants.cells > MAX_CELLS_QUICK:
        return [*crossed, (CellClassSampler, {})]
    first: _Candidates = [*crossed, (KleinSampler, {}), (MixtureSampler, {})]
    if quick:
        return [*first, (CellClassSampler, {} if shared else {"max_sums": MAX_SUMS_QUICK})]
    if not shared:
        few = min(MAX_SUMS_FIRST, MAX_SUMS_FIRST_IN_ALL / max(n_draws, 1))
        quick_messages = (EliminationSampler, {"max_products": MAX_PRODUCTS_QUICK})
        first = [*first, (CellClassSampler, {"max_sums": few}), quick_messages]
    return [*first, (CellClassSampler, {}), (EliminationSampler, {})]


class _Trial:
    """A search through samplers, which keeps the messages of the samplers that cannot be used.

    `misfits` are messages of samplers for other targets. `refusals` are messages of samplers whose
    cost is too large, by method.
    """

    def __init__(self, invariants: Invariants, target: Target | Mechanism) -> None:
        self.arguments = invariants, target
        self.misfits: list[str] = []
        self.refusals: dict[str, str] = {}

    def first(self, candidates: _Candidates) -> _Sampler | None:
        """Set up the first practical sampler, or return None if there is none."""
        for kind, options in candidates:
            try:
                return kind(*self.arguments, **options)
            except MisfitError as misfit:
                self.misfits.append(str(misfit))
            except InputError as refusal:
                self.refusals[kind.method] = str(refusal)
        return None

    def error(self) -> NoSamplerError:
        """Return an error with the refusals, or with the misfits if there are no refusals."""
        reasons = [f"By {method}: {refusal}" for method, refusal in self.refusals.items()]
        if not reasons:
            return NoSamplerError(
                f"exact: no exact sampler supports this distribution under these invariants. "
                f"{'. '.join(self.misfits)}. {USE_CHAIN}"
            )
        if len(reasons) == 1:
            return NoSamplerError(next(iter(self.refusals.values())))
        return NoSamplerError(
            f"exact: no exact sampler is practical under these invariants. {' '.join(reasons)}"
        )
