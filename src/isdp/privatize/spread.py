"""How far noise spreads in each cell, by its law or by draws made to find out."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from isdp.errors import InputError
from isdp.exact.blocks import block_sizes
from isdp.exact.choice import choose
from isdp.exact.laws import gaussian_law, gaussian_total_law, total_law
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
    sizes = block_sizes(blocks)
    finest = max(epsilon, FINEST)
    scale = finest / epsilon
    a = np.exp(-finest)
    # of free cells first, then block by block; see `_each_cell`
    sd, unchanged = [np.sqrt(2 * a) / (1 - a) * scale], [np.tanh(epsilon / 2)]
    laws = {size: total_law(size, finest) for size in np.unique(sizes[1:]).tolist()}
    for size in sizes[1:].tolist():
        law = laws[size]
        sd.append(law.sd * scale)
        unchanged.append(1.0 if size == 1 else law.within(0) / scale)
    return _each_cell(blocks, sd, unchanged)


def spread_of_gaussian_blocks(blocks: np.ndarray, variance: Fraction) -> Spread:
    """Of discrete Gaussian noise under totals of disjoint blocks, from its law."""
    sizes = block_sizes(blocks)
    finest = min(variance, COARSEST)
    scale = math.sqrt(variance / finest)
    laws = {size: gaussian_total_law(size, finest) for size in np.unique(sizes[1:]).tolist()}
    of_block = [gaussian_law(finest), *(laws[size] for size in sizes[1:].tolist())]
    sd = np.array([law.sd * scale for law in of_block])
    unchanged = np.array([1.0 if law.sd == 0 else law.within(0) / scale for law in of_block])
    return _each_cell(blocks, sd, unchanged)


def _each_cell(blocks: np.ndarray, sd, unchanged) -> Spread:
    """Give to each cell what is known of free cells, and block by block."""
    # rolled, so that -1, which marks a free cell, is the place of theirs without a copy of `blocks`
    return Spread(np.roll(sd, -1)[blocks], np.roll(unchanged, -1)[blocks])


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
