import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isdp.constraints.presence import Presence
from isdp.postprocess.projection import nearest_l2
from reproduction.topdown.theory.subset_bounds import nearest_group_totals


def random_presence(seed, leaves, kinds, chance=0.4, most=30):
    rng = np.random.default_rng(seed)
    present = rng.random((leaves, kinds)) < chance
    present[np.arange(leaves), rng.integers(0, kinds, leaves)] = True
    return rng, Presence(present.sum(axis=1) + rng.integers(0, most, leaves), present)


def noisy_totals(rng, presence, scale):
    table = presence.minimums.copy()
    for row, there, cap in zip(table, presence.present, presence.surpluses, strict=True):
        kinds = np.flatnonzero(there)
        row[kinds] += rng.multinomial(cap, np.full(len(kinds), 1 / len(kinds)))
    return table.sum(axis=0) + np.rint(rng.laplace(0, scale, presence.groups)).astype(int)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([3, 30, 300]))
@example(49, 30)  # where the solver of least squares ended too early, in persons
@example(220, 3)
def test_the_cuts_lead_to_the_projection_onto_all_bounds(seed, scale):
    rng, presence = random_presence(seed, 8, 5)
    noisy = noisy_totals(rng, presence, scale)
    found = nearest_group_totals(rng, noisy, presence)
    wanted = nearest_l2(noisy.astype(float), presence.polytope())
    # cuts are sought in parts of a person, 2^20 of them
    np.testing.assert_allclose(found.real, wanted, rtol=0, atol=1e-5)
    assert presence.violated_bound(found.totals) is None
    assert np.abs(found.totals - found.real).max() < 1 + 1e-6


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_no_other_rounding_that_the_leaves_can_have_is_nearer(seed):
    rng, presence = random_presence(seed, 5, 4)
    found = nearest_group_totals(rng, noisy_totals(rng, presence, 20), presence)
    floor = np.floor(found.real + 1e-6).astype(int)
    best = min(
        np.abs(floor + up - found.real).sum()
        for up in itertools.product((0, 1), repeat=4)
        if presence.violated_bound(floor + np.array(up)) is None
    )
    assert np.abs(found.totals - found.real).sum() == pytest.approx(best, abs=1e-4)


def test_twenty_eight_kinds_need_a_handful_of_their_cuts():
    rng, presence = random_presence(3, 300, 28, chance=0.07, most=400)
    found = nearest_group_totals(rng, noisy_totals(rng, presence, 2000), presence)
    assert 0 < len(found.cuts) < 100
    assert presence.violated_bound(found.totals) is None
    near = nearest_group_totals(rng, noisy_totals(rng, presence, 1), presence)
    assert len(near.cuts) < len(found.cuts)
