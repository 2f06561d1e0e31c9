"""Uniform compositions, and noise under totals of blocks of all sizes."""

from fractions import Fraction

import numpy as np

from isdp import GeneralizedLaplace, Invariants
from isdp.exact.bits.geometric import Geometric
from isdp.exact.bits.source import BitSource
from isdp.exact.disjoint.compositions import draw_compositions
from tests.exact_noise import exact_noise


def pseudo(seed=3):
    return np.random.default_rng(seed).bytes


def integers(*values):
    return np.array(values, dtype=np.int64)


def test_undivided_totals_may_be_anywhere():
    sizes = integers(2, 300, 2, 50)
    for totals in ([0, 0, 0, 0], [1, 3, 5000, 1], [300, 100_000, 0, 30]):
        parts = draw_compositions(
            BitSource(pseudo()), integers(*totals), sizes, Geometric(Fraction(1, 4))
        )
        assert parts.min() >= 0
        assert np.add.reduceat(parts, np.cumsum(sizes) - sizes).tolist() == totals


def test_blocks_of_all_sizes_keep_their_totals_in_every_draw():
    sizes = [1, 2, 2, 5, 700, 3, 1, 20_000, 4]
    labels = np.repeat(np.arange(9), sizes)
    np.random.default_rng(5).shuffle(labels)
    held = Invariants.partition([None if label == 5 else int(label) for label in labels])
    noise = exact_noise(GeneralizedLaplace("1/3"), held, 3, source=pseudo())
    assert not held.apply(noise).any()
    for label in (1, 2, 3, 4, 5, 7, 8):
        assert noise[:, labels == label].any()
    assert not noise[:, np.isin(labels, [0, 6])].any()
