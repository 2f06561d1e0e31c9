"""How far noise spreads in each cell, by its law or by draws made to find out."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from isdp.errors import InputError
from isdp.exact.blocks import block_sizes
from isdp.exact.choice import choose
from isdp.exact.laws import TotalLaw, gaussian_law, gaussian_total_law, total_law
from isdp.privatize.freedom import Freedom
from isdp.privatize.request import Request
from isdp.seeds import stream

DRAWS, MOST_CELLS = 400, 1000  # for draws that are made for this alone
COARSEST = 10_000  # above this variance the Gaussian of one cell is a rescaled one
FINEST = 0.1  # below this epsilon the law of one cell is a rescaled one, within 0.5 %


class Spread(NamedTuple):
    """The noise of each cell.

    Attributes
    ----------
    sd : float64 array, shape (cells,)
        Standard deviation.
    unchanged : float64 array, shape (cells,)
        Chance of no noise.
    drawn : bool
        Whether both were found from draws, and not from the law.
    """

    sd: np.ndarray
    unchanged: np.ndarray
    drawn: bool = False


def spread_of_blocks(blocks: np.ndarray, epsilon: float) -> Spread:
    """Of l1 noise under totals of disjoint blocks, from its law."""
    finest = max(epsilon, FINEST)
    a = math.exp(-finest)
    free = math.sqrt(2 * a) / (1 - a) * finest / epsilon, math.tanh(epsilon / 2)
    return _of_blocks(blocks, free, lambda size: total_law(size, finest), finest / epsilon)


def spread_of_gaussian_blocks(blocks: np.ndarray, variance: Fraction) -> Spread:
    """Of discrete Gaussian noise under totals of disjoint blocks, from its law."""
    finest = min(variance, COARSEST)
    scale = math.sqrt(variance / finest)
    free = _of_cell(gaussian_law(finest), scale)
    return _of_blocks(blocks, free, lambda size: gaussian_total_law(size, finest), scale)


def _of_blocks(
    blocks: np.ndarray, free: tuple[float, float], law: Callable[[int], TotalLaw], scale: float
) -> Spread:
    """Give each cell what is known of a free cell, or of a cell of a block of the same size."""
    sizes, of_block = np.unique(block_sizes(blocks)[1:], return_inverse=True)
    known = np.array([*(_of_cell(law(size), scale) for size in sizes.tolist()), free])
    # free cells are marked by -1 and take the last place
    sd, unchanged = known[np.append(of_block, -1)].T
    return Spread(sd[blocks], unchanged[blocks])


def _of_cell(law: TotalLaw, scale: float) -> tuple[float, float]:
    """Find the standard deviation and chance of no noise of a law made wider by a factor."""
    return law.sd * scale, 1.0 if law.sd == 0 else law.within(0) / scale


def spread_of_draws(draws: np.ndarray) -> Spread:
    """Of noise int64 (..., cells), from draws of it."""
    flat = draws.reshape(-1, draws.shape[-1])
    return Spread(flat.std(axis=0), (flat == 0).mean(axis=0), drawn=True)


def spread_by_sampling(free: Freedom, request: Request, sampler=None) -> Spread | None:
    """Of noise from an exact sampler, if draws of it are cheap; else None.

    Parameters
    ----------
    sampler : isdp.exact.choice.ExactSampler, optional
        One that is set up already.
    """
    if free.invariants.cells > MOST_CELLS:
        return None
    try:
        if sampler is None:
            sampler = choose(free.invariants, request.mechanism, quick=True)
        return spread_of_draws(sampler.sample(stream(request.seed or 0, "picture"), DRAWS))
    except InputError:
        return None
