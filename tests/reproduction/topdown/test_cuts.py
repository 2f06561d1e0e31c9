import numpy as np

from reproduction.topdown.workarounds import KINDS, cut_once, draw_regions, tabulate_cuts


def test_regions_have_one_to_four_kinds_and_somebody_of_each():
    people, presence = draw_regions(np.random.default_rng(1), 300)
    kinds = presence.present.sum(axis=1)
    assert (kinds.min(), kinds.max()) == (1, 4)
    assert (people[presence.present] >= 1).all()
    assert presence.violated_bound(people.sum(axis=0)) is None


def test_less_budget_needs_more_cuts_and_every_release_has_regions():
    table = tabulate_cuts(0, 300, [1.0, 0.001], 2)
    assert table["cuts_most"].iloc[0] < table["cuts_most"].iloc[1]
    assert (table["broken"] == 0).all()
    assert (table["subsets"] == 2**28 - 1).all()
    assert table["error"].iloc[1] < table["error_noisy"].iloc[1]  # the truth meets the bounds


def test_noise_differs_by_release_and_budget_and_regions_by_release():
    first, again = cut_once(0, 50, 0.1, 0), cut_once(0, 50, 0.1, 0)
    assert (first[2] == again[2]).all()
    other = cut_once(0, 50, 0.1, 1)
    assert first[0].shape == other[0].shape == (50, KINDS)
    assert (first[0] != other[0]).any()
