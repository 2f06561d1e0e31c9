import numpy as np
import pytest

from isdp.subspace.privacy.gaussian_calibration import certified_delta, paper_constant
from isdp.testing import check_mean
from reproduction.subspace.guarantees import (
    attained_loss,
    compute_profiles,
    tabulate_constant,
    tabulate_failing,
    tabulate_pure_losses,
)


def test_the_constant_holds_at_usual_deltas_in_the_range_of_algorithm_1_and_not_beyond():
    table = tabulate_constant([0.1, 0.192, 0.5, 0.9, 1, 8], [1e-3, 1e-5, 1e-10, 1e-14, 1e-20])
    assert table["holds"][table["small_epsilon"]].all()
    assert not table["holds"].all()
    assert (table["holds"] == (table["waste"] >= 1)).all()
    worst = table.set_index(["epsilon", "delta"])["excess"]
    assert worst[1, 1e-14] == pytest.approx(22.99, abs=5e-3)
    assert table["excess"].max() > 1e6


@pytest.mark.parametrize(("epsilon", "fails"), [(0.05, False), (0.1, True), (0.9, True)])
def test_at_a_delta_of_1e_14_the_constant_fails_below_epsilon_1_too(epsilon, fails):
    """By interval arithmetic; sure on either side."""
    lower, upper = certified_delta(epsilon, paper_constant(epsilon, 1e-14))
    assert lower > 1e-14 if fails else upper < 1e-14
    (found,) = tabulate_constant([epsilon], [1e-14])["holds"]
    assert found != fails


def test_where_the_constant_fails():
    table = tabulate_failing([0.192, 8])
    assert table["log10_delta"].to_numpy() == pytest.approx([-12.737944, -2.7763036], abs=1e-6)


def test_losses_reach_what_is_claimed_and_do_not_exceed_it():
    entries = {
        "total": {"query": "histogram", "size": 16, "held": "total"},
        "margins": {"query": "histogram", "size": [4, 4], "held": "margins"},
        "tree": {"query": "hierarchy", "size": [2, 2], "held": "total"},
    }
    table = tabulate_pure_losses(entries, 0.192)
    assert table["share"].to_numpy() == pytest.approx(np.ones(len(table)))


def test_losses_far_out():
    shares = attained_loss(2, 0.192, [10, 100, 1000])["share"]
    assert shares.to_numpy() == pytest.approx([0.95216, 0.99502, 0.99950], abs=5e-6)
    assert attained_loss(3, 0.192, [10])["share"][0] == pytest.approx(0.99998, abs=5e-6)


def test_profiles_under_a_total():
    table = compute_profiles(np.random.default_rng(9), [2, 10], [0.0, 0.5, 0.9], 20_000)
    found = table.set_index(["cells", "noise", "epsilon"])
    assert found["delta"][2, "K-norm", 0.5] == pytest.approx(0.22120, abs=5e-6)
    assert found["variance"][10, "projected", 0.0] == pytest.approx(7.2)
    for epsilon, value in ((0.0, 0.2418), (0.5, 0.0935), (0.9, 0.0099)):
        row = found.loc[(10, "projected", epsilon)]
        check_mean(row["delta"], value, row["delta_se"])
    assert (found["divergence"] < 1).all()
