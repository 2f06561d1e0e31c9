"""Draws for a real release: exact l1 noise from the operating system's random bits.

Sampling in floating point leaves traces in the low bits of the noise from which the confidential
numbers can be told (I. Mironov, On significance of the least significant bits for differential
privacy, CCS 2012). Here no rounded number decides a draw: see `isdp.exact.coins`.

Geometric counts come from inversion in digits, totals from compositions of one random sum
(`isdp.exact.secure_compositions`), totals that overlap from sums of types (`isdp.exact.sums`),
other small lattices from `isdp.exact.secure_overlap`. The idea of building the discrete Laplace law
from exact coins is that of C. Canonne, G. Kamath and T. Steinke, The discrete Gaussian for
differential privacy, NeurIPS 2020.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Protocol

import numpy as np

from isdp.checks import exact_number, whole
from isdp.constraints.invariants import Invariants, cell_types
from isdp.constraints.parts import Part, independent_parts
from isdp.errors import InputError, NoSamplerError
from isdp.exact.blocks import block_order, refuse_large_sums
from isdp.exact.coins import Source, _geometric, _Words
from isdp.exact.mirrored import Merged, merge_mirrored
from isdp.exact.secure_compositions import draw_blocks, parts, spans
from isdp.exact.secure_gaussian import release_gaussian
from isdp.exact.secure_overlap import OverlapRelease
from isdp.exact.typed import TypedRelease
from isdp.io.progress import progress, tracked

SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**14), 1000


def release(
    invariants: Invariants,
    epsilon=None,
    draws: int = 1,
    source: Source | None = None,
    *,
    rho=None,
) -> np.ndarray:
    """Draw noise for a real release: exact, from the operating system's randomness.

    P(u) is proportional to exp(-epsilon ||u||_1) over the integer vectors u with A u = 0, or with
    `rho` in place of epsilon, to exp(-rho ||u||_2^2) (`isdp.exact.secure_gaussian`). This is the
    law itself, not one near it: no rounding and no pseudo-random generator decides a draw.
    It is slower than `isdp.exact.blocks.sample_blocks`.

    Totals of disjoint blocks of any size are drawn directly. Where totals overlap, the sums of the
    cells that stand in the same totals are drawn by rejection and shared out among them
    (`isdp.exact.sums`): many cells cost no tries, many totals across many disjoint ones do, and are
    refused. What falls apart is drawn part by part.

    The draw closes the attack on the low bits of floating-point noise. It does not hide how long
    the drawing took, which depends on the noise, nor guard the memory that the noise and the
    table are in. The invariants and epsilon count as public. The privacy loss is epsilon per unit
    of the l1 distance between two tables with equal invariants, not per person: one person who
    changes cell moves that distance by 2. Every further draw for the same table costs epsilon
    again. Of Gaussian noise, rho is the loss per unit of the squared l2 distance, which one person
    who changes cell moves by 2.

    Parameters
    ----------
    invariants : Invariants
    epsilon : Fraction, int, str or float, optional
        Privacy loss per unit of the l1 norm, between 1e-14 and 1000. A float stands for its
        shortest decimal form, 0.1 for 1/10; a string may be "1/4" or "0.25".
    draws : int
    source : callable, optional
        ``source(k)`` returns k random bytes; `os.urandom` by default. Another one is for tests.
    rho : Fraction, int, str or float, optional
        Zero-concentrated loss per unit of the squared l2 norm: 1 / (2 sigma^2).

    Returns
    -------
    int64 array, shape (draws, cells)
        Checked: every draw meets the invariants.

    Raises
    ------
    InputError
        If a setting is out of range, or sums could pass 2^53.
    NoSamplerError
        If no exact sampler of l1 noise is practical under these invariants, such as where
        rejection would take more than about 1e6 tries for a draw.

    Examples
    --------
    >>> noise = release(Invariants.total(5), "1/4")
    >>> noise.shape, int(noise.sum())
    ((1, 5), 0)
    """
    if (epsilon is None) == (rho is None):
        raise InputError("release: give either epsilon, for l1 noise, or rho, for Gaussian noise")
    draws = whole("release", "draws", draws)
    if rho is not None:
        return release_gaussian(invariants, rho, draws, source)
    epsilon = exact_epsilon(epsilon)
    refuse_large_sums(invariants.cells, float(epsilon))
    words = _Words(os.urandom if source is None else source)
    noise = _sampler(invariants, epsilon).draw(words, draws)
    invariants.check(noise)
    return noise


def exact_epsilon(epsilon) -> Fraction:
    """Read epsilon as the rational number that it is written as.

    Parameters
    ----------
    epsilon : Fraction, int, str or float
        A float stands for its shortest decimal form.

    Returns
    -------
    Fraction

    Raises
    ------
    InputError
        If it is no number between 1e-14 and 1000.
    """
    exact = exact_number("epsilon", epsilon)
    if not SMALLEST_EPSILON <= exact <= LARGEST_EPSILON:
        raise InputError(f"release: epsilon must lie between 1e-14 and 1000, got {epsilon!r}")
    return exact


class _Release(Protocol):
    """A sampler that has been set up: no refusal comes once it draws."""

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        """Independent draws, int64 (draws, cells)."""


def _sampler(invariants: Invariants, epsilon: Fraction) -> _Release:
    """Set up the sampler that fits: totals of blocks at once, all else part by part."""
    blocks = block_order(invariants)
    if blocks is not None:
        return _Blocks(*blocks, epsilon)
    parts = independent_parts(invariants)
    if len(parts) > 1:
        return _Parts(parts, epsilon)
    merged = merge_mirrored(invariants)
    if merged is not None:
        return _Mirrored(merged, _sampler(merged.invariants, merged.times * epsilon))
    refusals = []
    shared = len(cell_types(invariants)[1]) < invariants.cells
    for kind in (TypedRelease, OverlapRelease) if shared else (OverlapRelease, TypedRelease):
        try:
            return kind(invariants, epsilon)
        except InputError as refusal:
            refusals.append(str(refusal))
    error = NoSamplerError(
        f"release: no exact sampler of l1 noise is practical under these invariants at epsilon "
        f"{float(epsilon):g}; use fewer invariants, a larger epsilon, or Gaussian noise (rho)"
    )
    for refusal in refusals:
        error.add_note(refusal)
    raise error


class _Blocks:
    """Totals of disjoint blocks, of any size."""

    def __init__(self, order: np.ndarray, starts: np.ndarray, epsilon: Fraction):
        self.cells, self.free, self.geometric = len(order), order[: starts[0]], _geometric(epsilon)
        sizes = np.diff(starts)
        self.spans = [(cells, sizes[blocks]) for blocks, cells in spans(order, starts)]
        self.moving = len(self.free) + sum(len(cells) for cells, _ in self.spans)

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        noise = np.zeros((draws, self.cells), dtype=np.int64)
        with progress("drawing noise", draws * self.moving) as at:
            for first, part in parts(noise):
                free = self.geometric.draw_difference(words, len(part) * len(self.free))
                part[:, self.free] = free.reshape(len(part), len(self.free))
                drawn = first * self.moving + free.size
                at(drawn)
                for cells, sizes in self.spans:
                    inside = draw_blocks(words, np.tile(sizes, len(part)), self.geometric)
                    part[:, cells] = inside.reshape(len(part), len(cells))
                    drawn += inside.size
                    at(drawn)
        return noise


class _Parts:
    """Parts that no invariant joins, each with its own sampler; those alike share one."""

    def __init__(self, parts: list[Part], epsilon: Fraction):
        known: dict[Invariants, _Release] = {}
        self.parts = []
        for cells, held in parts:
            nameless = Invariants(held.sparse)
            if nameless not in known:
                known[nameless] = _sampler(nameless, epsilon)
            self.parts.append((cells, known[nameless]))

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        noise = np.zeros((draws, sum(len(cells) for cells, _ in self.parts)), dtype=np.int64)
        for cells, sampler in tracked("drawing noise", self.parts):
            noise[:, cells] = sampler.draw(words, draws)
        return noise


class _Mirrored:
    """Cells that move together, drawn once for each set."""

    def __init__(self, merged: Merged, sampler: _Release):
        self.merged, self.sampler = merged, sampler

    def draw(self, words: _Words, draws: int) -> np.ndarray:
        return self.merged.spread(self.sampler.draw(words, draws))
