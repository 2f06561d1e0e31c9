import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants, compare, exact
from isdp.commands.compare.expected_errors import (
    SwappedMoments,
    answered,
    by_simulation,
    of_plain_noise,
)
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.margins import BOUNDED, EXACT
from isdp.compare.areas import Areas
from isdp.subspace import KNorm, ProjectedLaplace, Query
from isdp.testing import DistributionError, check_mean
from isdp.topdown import Schema

# two totals of three and two cells, and a cell in none
BLOCKS = np.array([0, 0, 1, 0, 1, -1])
SUMS = HeldTotals("sums", np.array([0, 0, 0, 1, -1, 2], dtype=np.int32))
CELLS = HeldTotals("cells", np.arange(6, dtype=np.int32))


def held_blocks(blocks):
    rows = [np.flatnonzero(blocks == block) for block in range(blocks.max() + 1)]
    return Invariants.subsets(rows, len(blocks))


def question(blocks, invariants=None):
    invariants = held_blocks(blocks) if invariants is None else invariants
    free = SimpleNamespace(blocks=blocks, invariants=invariants)
    return SimpleNamespace(free=free, cells=invariants.cells)


def incidence(query):
    rows = np.zeros((query.totals, len(query.labels)))
    inside = np.flatnonzero(query.labels >= 0)
    rows[query.labels[inside], inside] = 1
    return rows


@pytest.mark.parametrize("query", [SUMS, CELLS], ids=["sums", "cells"])
def test_variances_of_integer_noise_are_those_of_its_enumerated_law(query):
    epsilon = 4.0
    law = exact.enumerate_distribution(held_blocks(BLOCKS), GeneralizedLaplace(epsilon / 2), 16)
    want = law.pmf @ (law.points @ incidence(query).T) ** 2
    found = of_plain_noise(compare.IntegerLaplace(), epsilon, question(BLOCKS), query)
    assert found.method == EXACT
    assert found.square == pytest.approx(want, rel=1e-6)
    assert not found.bias.any()


@pytest.mark.parametrize("query", [SUMS, CELLS], ids=["sums", "cells"])
def test_variances_of_projected_noise_are_those_of_its_covariance(query):
    law = ProjectedLaplace(Query.histogram(6), held_blocks(BLOCKS), 0.8)
    rows = incidence(query)
    want = np.diag(rows @ law.covariance() @ rows.T)
    found = of_plain_noise(compare.ProjectedLaplaceNoise(), 0.8, question(BLOCKS), query)
    assert found.square == pytest.approx(want)


def test_variances_of_k_norm_noise_are_those_of_its_covariance():
    alone = np.zeros(5, dtype=int)
    query = HeldTotals("sums", np.array([0, 0, 1, 1, 1], dtype=np.int32))
    law = KNorm(Query.histogram(5), Invariants.total(5), 0.8)
    rows = incidence(query)
    want = np.diag(rows @ law.covariance() @ rows.T)
    found = of_plain_noise(compare.KNormNoise(), 0.8, question(alone), query)
    assert found.square == pytest.approx(want)
    # and no law is known where a cell is in no total
    assert of_plain_noise(compare.KNormNoise(), 0.8, question(BLOCKS), SUMS) is None


@pytest.mark.parametrize("rho", [1.0, 6.0])
def test_variances_of_the_integer_gaussian_are_those_of_its_law_and_within_the_bound(rho):
    alone, query = np.zeros(3, dtype=int), HeldTotals("sum", np.array([0, 0, -1], dtype=np.int32))
    points = np.array([(a, b, -a - b) for a, b in itertools.product(range(-40, 41), repeat=2)])
    weights = np.exp(-0.5 * rho * (points**2).sum(axis=1))
    want = float(weights @ points[:, :2].sum(axis=1) ** 2 / weights.sum())
    found = of_plain_noise(compare.IntegerGaussian(), rho, question(alone), query)
    assert found.method == EXACT
    assert found.square.item() == pytest.approx(want)
    # where the totals overlap, or no grid is long enough, there is the bound
    free = SimpleNamespace(blocks=None, invariants=Invariants.total(3))
    bounded = of_plain_noise(
        compare.IntegerGaussian(), rho, SimpleNamespace(free=free, cells=3), query
    )
    assert bounded.method == BOUNDED
    assert want <= bounded.square.item() == pytest.approx(2 / (3 * rho))


@pytest.mark.parametrize(
    "system", [compare.ProjectedLaplaceNoise(), compare.ProjectedGaussianNoise()]
)
def test_under_margins_variances_are_those_of_the_projection(system):
    margins = Invariants.margins((3, 4))
    query = HeldTotals("sums", np.array([0, 1] * 5 + [2, -1], dtype=np.int32))
    rows = incidence(query)
    want = np.diag(rows @ system.sampler(margins, 0.7).covariance() @ rows.T)
    found = of_plain_noise(system, 0.7, question(None, margins), query)
    assert found.square == pytest.approx(want)
    total = HeldTotals("rows", np.repeat([0, 1, 2], 4).astype(np.int32))
    assert of_plain_noise(system, 0.7, question(None, margins), total).square.tolist() == [0] * 3


RATE = 0.4
COUNTS = np.array([[5, 0, 2], [1, 4, 0], [3, 2, 6], [0, 7, 1]])
AREAS = Areas(COUNTS, ["N", "N", "S", "S"], Schema(("age",), (3,)))
# the rows of the table stand in another order than the areas
ROWS = np.random.default_rng(3).permutation(12).reshape(4, 3)
SWAPPED = {
    "cells": np.arange(12),
    "across regions": np.where(np.arange(12) % 3 == 0, 0, np.where(np.arange(12) % 3 == 1, 1, -1)),
}


@pytest.fixture(scope="module")
def errors_of_swapping():
    rng, errors = np.random.default_rng(5), np.empty((3000, 12))
    for each in errors:
        each[ROWS] = compare.Swapping().release(rng, AREAS, RATE) - COUNTS
    return errors


@pytest.mark.parametrize("name", SWAPPED)
def test_moments_of_swapping_are_those_of_draws(name, errors_of_swapping):
    query = HeldTotals(name, SWAPPED[name].astype(np.int32))
    moments = SwappedMoments(AREAS, ROWS, RATE).of(query)
    draws = np.array([answered(errors, query) for errors in errors_of_swapping])
    variance = moments.square - moments.bias**2
    for values, bias, square, spread in zip(
        draws.T, moments.bias, moments.square, variance, strict=True
    ):
        check_mean(values, bias, math.sqrt(spread))
        check_mean(values**2, square)
    with pytest.raises(DistributionError):
        check_mean(draws[:, 0] ** 2, 1.3 * moments.square[0])


def test_what_swapping_holds_has_no_error():
    moments = SwappedMoments(AREAS, ROWS, RATE)
    areas, kept = np.empty(12, dtype=np.int32), np.empty(12, dtype=np.int32)
    areas[ROWS] = np.arange(4)[:, None]
    kept[ROWS] = np.array([0, 0, 3, 3])[:, None] + np.arange(3)
    for labels in (areas, kept):
        found = moments.of(HeldTotals("held", labels))
        assert found.square.tolist() == [0] * found.square.size
        assert found.bias.tolist() == [0] * found.bias.size


def test_simulated_errors_are_means_over_runs_with_two_standard_errors():
    errors = np.array([[1.0, -1.0, 3.0], [2.0, 0.0, -3.0], [0.0, 4.0, 0.0]])
    query = HeldTotals("cells", np.arange(3, dtype=np.int32))
    pair = HeldTotals("pair", np.array([0, 0, -1], dtype=np.int32))
    some, one = np.array([True, True, False]), np.array([True])
    done = []
    wanted = [(query, some), (pair, one)]
    (cells, bias), (sums, _) = by_simulation(errors.__getitem__, 3, wanted, done.append)
    assert done == [1, 2, 3]
    squares = np.array([1.0, 2.0, 8.0])
    assert cells.value == pytest.approx(math.sqrt(squares.mean()))
    # the error of a root is that of the square, divided by twice the root
    assert cells.error == pytest.approx(squares.std(ddof=1) / math.sqrt(3) / cells.value)
    assert bias.value == pytest.approx(1.0)
    assert bias.error == pytest.approx(2 * np.std([0, 1, 2], ddof=1) / math.sqrt(3))
    assert sums.value == pytest.approx(math.sqrt((0 + 4 + 16) / 3))
