"""Exact samplers of nested noise: shapes, refusals, forecasts and special trees."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx

from isdp import (
    SYSTEM_RANDOMNESS,
    GeneralizedGaussian,
    GeneralizedLaplace,
    InputError,
    Invariants,
    draw_noise,
)
from isdp.errors import NoSamplerError
from isdp.exact import select_sampler
from isdp.exact.bits.bernoulli import PROBABILITY_MARGIN, draw_bernoulli
from isdp.exact.bits.source import BitSource
from isdp.exact.elimination.laplace_sampler import EliminationSampler
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import NestedGaussian, NestedLaplace, SetTree

KINDS = pytest.mark.parametrize("kind", [NestedGaussian, NestedLaplace])


def draw(noise, invariants, n_draws=1, seed=1):
    return draw_noise(noise, invariants, n_draws=n_draws, rng=np.random.default_rng(seed))


@KINDS
def test_release_draws_keep_all_held_totals(kind):
    state, county = np.repeat([0, 1, 2], [4, 8, 12]), np.repeat(np.arange(12), 2)
    tree = SetTree.from_columns({"state": state, "county": county})
    noise = kind(tree, {"state": 2, "county": "3/2", "cell": 1})
    held = Invariants.subsets([range(24), range(12), range(4), [5], [22, 23]], 24)
    drawn = draw_noise(noise, held, n_draws=1000, rng=SYSTEM_RANDOMNESS)
    assert drawn.shape == (1000, 24)
    assert drawn.dtype == np.int64
    assert not held.apply(drawn).any()
    # all cells but the held one; a cell is 0 with a probability of at most 0.94, so that all of
    # its draws are 0 with a probability below 1e-26
    assert np.abs(drawn).sum(axis=0).astype(bool).sum() == 23
    assert select_sampler(noise, held).error == 0


@KINDS
def test_equal_seeds_give_equal_noise(kind):
    tree = SetTree.from_columns({"region": np.arange(20) // 4})
    noise, total = kind(tree, {"region": 1, "cell": 1}), Invariants.total(20)
    assert np.array_equal(draw(noise, total, 5), draw(noise, total, 5))
    assert not np.array_equal(draw(noise, total, 5), draw(noise, total, 5, seed=2))


def test_cells_alone_are_drawn_by_the_sampler_of_the_generalized_mechanism():
    tree, total = SetTree.from_columns({"region": [0, 0, 1, 1, 1]}), Invariants.total(5)
    pairs = [
        (NestedGaussian(tree, {"cell": "3/2"}), GeneralizedGaussian(rho="1/3")),
        (NestedLaplace(tree, {"cell": "1/3"}), GeneralizedLaplace("1/3")),
    ]
    for nested, plain in pairs:
        assert np.array_equal(draw(nested, total, 9), draw(plain, total, 9))
        margins = Invariants.subsets([[0, 1], [1, 2], [2, 3]], 5)  # these need another sampler
        assert np.array_equal(draw(nested, margins, 2), draw(plain, margins, 2))


@KINDS
def test_deep_and_wide_trees(kind):
    depth = 50 if kind is NestedGaussian else 8
    deep = SetTree.from_sets([range(k) for k in range(2, depth + 2)], depth + 1)
    noise = kind(deep, [1] * deep.nodes)
    held = Invariants.total(depth + 1)
    drawn = draw(noise, held, 2000)
    variance = NestedAccuracy(noise, held).variance(0)
    spread = (drawn[:, 0] ** 2).std() / np.sqrt(2000)
    assert drawn[:, 0].var() == pytest.approx(variance, abs=6 * spread)
    children = 100_000 if kind is NestedGaussian else 1_000
    for cells_per_block in (1, 2):
        cells = children * cells_per_block
        wide = SetTree.from_columns({"block": np.arange(cells) // cells_per_block})
        drawn = draw(kind(wide, {"block": 1, "cell": 2}), Invariants.total(cells))
        assert drawn.any()
        assert drawn.sum() == 0


def test_depth_with_few_accepted_proposals_is_refused():
    deep = SetTree.from_sets([range(k) for k in range(2, 52)], 51)
    with pytest.raises(NoSamplerError, match="epsilons"):
        draw(NestedLaplace(deep, [1] * deep.nodes), Invariants.total(51))


@KINDS
def test_totals_that_leave_nothing_to_draw(kind):
    tree = SetTree.from_columns({"region": [0, 0, 1]})
    noise = kind(tree, {"region": 1, "cell": 1})
    everything = Invariants.subsets([[0], [0, 1], [0, 1, 2]], 3)
    assert not draw(noise, everything, 3).any()
    assert draw(noise, everything, 0).shape == (0, 3)
    free = draw(noise, Invariants(np.zeros((0, 3), dtype=int)), 500)
    assert (free.sum(axis=1) != 0).any()


def test_forecast_is_at_least_the_expected_number_of_proposals_of_a_small_tree():
    """The probability of acceptance of two regions of two cells, by summation."""
    cell, region = 0.2, 3.0
    tree = SetTree.from_columns({"region": [0, 0, 1, 1]})
    noise = NestedGaussian(tree, {"region": "3", "cell": "0.2"})
    totals, parts = np.arange(-12, 13), np.arange(-20, 21)
    inside = np.exp(-(parts[:, None] ** 2 + (totals - parts[:, None]) ** 2) / (2 * cell)).sum(0)
    width = 1 / (1 / region + 1 / (2 * cell))
    proposal = np.exp(-(totals**2) / width)
    theta = inside * np.exp(totals**2 / (4 * cell))
    accepted = (proposal * (theta / theta[12]) ** 2).sum() / proposal.sum()
    forecast = select_sampler(noise, Invariants.total(4)).expected_proposals
    assert 1 / accepted <= forecast * (1 + 1e-9)
    assert forecast < 1.5 / accepted


def test_impractical_acceptance_is_refused():
    tree = SetTree.from_columns({"region": np.arange(400) // 2})
    noise = NestedGaussian(tree, {"region": 9, "cell": "1/4"})
    with pytest.raises(NoSamplerError, match="variances"):
        draw(noise, Invariants.total(400))
    with pytest.raises(NoSamplerError, match="variances"):
        draw_noise(noise, Invariants.total(400), rng=SYSTEM_RANDOMNESS)
    draw(noise, Invariants.partition(np.arange(400) // 4))  # few regions below each held total
    tree = SetTree.from_columns({"region": np.repeat([0, 1], 500_000)})
    noise = NestedLaplace(tree, {"region": 100, "cell": "0.0001"})
    assert draw(noise, Invariants.total(10**6)).any()  # both regions have the total 0
    tree = SetTree.from_columns({"state": np.arange(4000) // 1000, "region": np.arange(4000) // 2})
    noise = NestedLaplace(tree, {"state": 500, "region": 1e-6, "cell": 1e-6})
    with pytest.raises(NoSamplerError, match="epsilons"):
        draw(noise, Invariants.total(4000))


@KINDS
def test_requests_without_a_sampler_are_refused(kind):
    tree = SetTree.from_columns({"region": [0, 0, 1, 1]})
    noise = kind(tree, {"region": 1, "cell": 2})
    for rows in ([[1, 1, 0, 0], [0, 1, 1, 0]], [[1, 2, 0, 0]]):
        with pytest.raises(NoSamplerError, match="nested"):
            draw(noise, Invariants(rows))
    with pytest.raises(InputError, match="lower"):
        draw_noise(noise, Invariants.total(4), rng=np.random.default_rng(1), lower=[-9] * 4)
    with pytest.raises(InputError, match="cells"):
        draw(noise, Invariants.total(5))
    with pytest.raises(InputError, match="cell 0"):
        draw(kind(tree, {"region": 1}), Invariants.total(4))


@KINDS
@pytest.mark.parametrize("scales", [{"cell": 1}, {"root": 1, "cell": 1}])
def test_a_family_of_one_cell(kind, scales):
    noise = kind(SetTree.from_columns({"region": ["a"]}), scales)
    held, free = Invariants.total(1), Invariants(np.zeros((0, 1), dtype=int))
    assert draw(noise, held, 3).tolist() == [[0]] * 3
    assert draw(noise, free, 50).any()
    assert [NestedAccuracy(noise, held).variance(node) for node in range(3)] == [0, 0, 0]
    assert NestedAccuracy(noise, free).variance(0) > 0
    assert noise.guarantee_of(held).loss == 0


@KINDS
def test_levels_with_the_same_sets_add_their_terms(kind):
    """A level with the sets of another level, and a chain of 50 sets with one child each."""
    labels = [0, 0, 1, 1]
    single = kind(SetTree.from_columns({"a": labels}), {"a": "1/2", "cell": 1})
    share = Fraction(3, 2) if kind is NestedGaussian else Fraction(1, 6)  # a third of the rate
    twins = SetTree.from_columns({"a": labels, "b": labels, "c": labels})
    triple = kind(twins, {"a": share, "b": share, "c": share, "cell": 1})
    total = Invariants.total(4)
    assert NestedAccuracy(triple, total).variance(0) == NestedAccuracy(single, total).variance(0)
    assert triple.losses_by_level(total) == {
        "root": single.losses_by_level(total)["root"],
        "c": single.losses_by_level(total)["a"],
    }
    assert np.array_equal(draw(triple, total, 20), draw(single, total, 20))
    chain = SetTree.from_columns({f"level {k}": [0] * 4 for k in range(50)})
    under_chain = kind(chain, dict.fromkeys(chain.levels[1:], 1))
    alone = kind(SetTree.from_sets([], 4), {"cell": 1})
    assert under_chain.guarantee_of(total).loss == alone.guarantee_of(total).loss
    for node in range(4):
        variance = NestedAccuracy(under_chain, total).variance(node)
        assert variance == NestedAccuracy(alone, total).variance(node)
    assert not draw(under_chain, total, 20).sum(axis=1).any()


@KINDS
@pytest.mark.parametrize("cell", ["min", 1, "max"])
@pytest.mark.parametrize("region", ["min", 1, "max"])
def test_the_smallest_and_largest_scales_end_in_an_error_or_in_noise(kind, region, cell):
    limits = {"min": 1e-6, "max": 1e20} if kind is NestedGaussian else {"min": 1e-14, "max": 1000}
    tree, total = SetTree.from_columns({"region": np.arange(12) // 3}), Invariants.total(12)
    noise = kind(tree, {"region": limits.get(region, 1), "cell": limits.get(cell, 1)})
    assert 0 < float(noise.guarantee_of(total).loss) < math.inf
    try:
        drawn = draw(noise, total, 3)
    except InputError as error:
        assert str(error).startswith(("variances", "exact"))  # noqa: PT017
    else:
        assert not drawn.sum(axis=1).any()
    try:
        variance = NestedAccuracy(noise, total).variance(0)
    except InputError as error:
        assert "grid" in str(error)  # noqa: PT017
    else:
        assert 0 <= variance < math.inf


def test_extreme_scales_end_in_an_error_or_in_noise():
    tree = SetTree.from_columns({"region": np.arange(6) // 2})
    total = Invariants.total(6)
    assert draw(NestedGaussian(tree, {"region": 1e-3, "cell": 1e6}), total).any()
    assert draw(NestedGaussian(tree, {"region": 1e12, "cell": 1e-6}), total, 10).sum() == 0
    assert draw(NestedLaplace(tree, {"region": 1000, "cell": 1e-6}), total).any()
    assert draw(NestedLaplace(tree, {"region": 1e-9, "cell": 900}), total).sum() == 0
    with pytest.raises(InputError, match="variances"):
        draw(NestedGaussian(tree, {"region": 1, "cell": 1e20}), total)
    spread = [Fraction(10) ** (12 if node % 2 else -6) for node in range(tree.nodes)]
    with pytest.raises(InputError, match="variances"):
        draw(NestedGaussian(tree, [*spread[:6], None, None, None, None]), Invariants.total(6))


@pytest.mark.parametrize(
    "module",
    ["bits.discrete_gaussian", "disjoint.recursive_splitting", "elimination.laplace_sampler"],
)
def test_approximate_probabilities_are_within_half_of_their_margin(module, monkeypatch):
    """Below held totals of states whose scales differ, so that the bounds differ too."""
    calls = []

    def checked(bits, probabilities, log_probability, margin=PROBABILITY_MARGIN):
        for i in range(min(len(probabilities), 60)):
            with ctx.workprec(200):
                exact = float(log_probability(i).exp().mid())
            assert abs(exact - probabilities[i]) <= margin / 2
        calls.append(len(probabilities))
        return draw_bernoulli(bits, probabilities, log_probability, margin)

    monkeypatch.setattr(f"isdp.exact.{module}.draw_bernoulli", checked)
    state = np.repeat(np.arange(5), 6)
    tree = SetTree.from_columns({"state": state, "county": np.arange(30) // 2})
    cells = np.repeat(["0.35", "0.5", "0.7", "0.9", "3"], 6).tolist()
    noise = NestedGaussian(tree, [*cells, *[None] * 6, *[4] * 15])
    draw(noise, Invariants.partition(state), 40)
    sampler = EliminationSampler(Invariants.margins((3, 3)), GeneralizedLaplace(1))
    sampler.draw(BitSource(np.random.default_rng(1).bytes), 100)
    assert calls
