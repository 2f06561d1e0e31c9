"""Totals of two crossing partitions: their detection, their closed forms and their sampler."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from isdp import SYSTEM_RANDOMNESS, GeneralizedGaussian, Invariants, draw_noise
from isdp.errors import MisfitError, NoSamplerError
from isdp.exact import select_sampler
from isdp.exact.bits.source import BitSource
from isdp.exact.overlapping.crossed_gaussian import CrossedTotalsSampler
from isdp.exact.overlapping.crossed_totals import crossed_totals
from tests.crossed_families import FAMILIES, crossed_invariants, labels_of
from tests.distributions import gaussian


@pytest.mark.parametrize("name", FAMILIES)
def test_the_partitions_are_found_in_any_order_of_the_cells(name):
    crossed, (heights, widths) = crossed_totals(crossed_invariants(name)), FAMILIES[name]
    row, column = labels_of(name)
    assert (crossed.row == row).all()
    assert (crossed.column == column).all()
    # only the products a_i b_j are determined
    assert (np.outer(crossed.heights, crossed.widths) == np.outer(heights, widths)).all()
    places = crossed.product_places()
    assert sorted(places) == list(range(len(row)))
    rows = np.repeat(np.arange(len(heights)), crossed.heights)
    columns = np.repeat(np.arange(len(widths)), crossed.widths)
    assert (rows[places // len(columns)] == row).all()
    assert (columns[places % len(columns)] == column).all()


def test_totals_that_follow_from_others_make_no_difference():
    matrix = crossed_invariants("three classes of unequal sizes").matrix
    found = crossed_totals(Invariants(matrix))
    total, larger = np.ones_like(matrix[:1]), matrix[:1] + matrix[1:2]
    none = np.zeros_like(total)
    for rows in (
        [matrix, total, larger, none],
        [larger, matrix],
        [total, matrix[1:]],
        [matrix[:-1]],
        [total, matrix[1:-1]],
    ):
        other = crossed_totals(Invariants(np.vstack(rows)))
        assert other.degrees == found.degrees
        for one, two in ((found.row, other.row), (found.column, other.column)):
            assert len(set(zip(one.tolist(), two.tolist(), strict=True))) == 3


SQUARE = Invariants.margins((3, 3)).matrix


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((1, 4), dtype=int),
        Invariants.total(4).matrix,
        Invariants.partition("aabb").matrix,
        np.delete(SQUARE, 4, axis=1),  # a class without a cell in one region
        np.delete(np.hstack([SQUARE, SQUARE]), 4, axis=1),  # one cell in place of two
        SQUARE[[0, 1, 3, 4]],  # cells without a total
        SQUARE * np.arange(1, 10),
        np.vstack([SQUARE, np.eye(9, dtype=int)[:1]]),
        Invariants.margins((2, 2, 2), [(0,), (1,), (2,)]).matrix,
    ],
)
def test_other_totals_are_not_taken_for_crossing_partitions(matrix):
    assert crossed_totals(Invariants(matrix)) is None
    with pytest.raises(MisfitError, match=r"^crossed totals: "):
        CrossedTotalsSampler(Invariants(matrix), GeneralizedGaussian(1))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_closed_forms_are_those_of_the_dense_projection(name):
    invariants, crossed = crossed_invariants(name), crossed_totals(crossed_invariants(name))
    a = invariants.matrix.astype(float)
    projection = np.eye(invariants.cells) - np.linalg.pinv(a) @ a
    assert crossed.degrees == round(np.trace(projection))
    sums = np.random.default_rng(5).integers(0, 2, (200, invariants.cells))
    sums = np.vstack([sums, np.eye(invariants.cells, dtype=int), a.astype(int), a[0] + a[1]])
    squares = np.einsum("ki,ij,kj->k", sums, projection, sums)
    assert crossed.projected_squares(csr_array(sums)) == pytest.approx(squares, abs=1e-9)
    determined = crossed.determined(csr_array(sums))
    assert (determined == (squares < 1e-9)).all()
    assert determined.any()
    assert not determined.all()
    of_cells = projection.diagonal()
    for one, two in itertools.combinations(range(invariants.cells), 2):
        if crossed.shapes[one] == crossed.shapes[two]:
            assert of_cells[one] == pytest.approx(of_cells[two])


@pytest.mark.parametrize("name", FAMILIES)
def test_the_energy_is_a_sum_of_squares_of_free_integer_coordinates(name):
    invariants, variance = crossed_invariants(name), Fraction(7, 4)
    sampler = CrossedTotalsSampler(invariants, gaussian(variance))
    crossed = crossed_totals(invariants)
    drawn = sampler.draw(BitSource(np.random.default_rng(6).bytes), 5)
    invariants.check(drawn)
    assert len(np.unique(drawn, axis=0)) > 1
    for noise in drawn:
        in_order = np.empty_like(noise)
        in_order[crossed.product_places()] = noise
        terms = sampler.terms(in_order)
        assert len(terms) == crossed.degrees
        total = sum(((x - c) ** 2 / s2 for x, c, s2 in terms), Fraction(0))
        assert total == (noise @ noise) / variance


def test_3000_regions_by_18_classes_are_drawn_at_once():
    regions, classes = np.divmod(np.random.default_rng(7).permutation(54_000), 18)
    totals = [Invariants.partition(labels.tolist()).sparse for labels in (regions, classes)]
    invariants = Invariants(vstack(totals, format="csr"))
    sampler = select_sampler(GeneralizedGaussian(1), invariants)
    assert sampler.error == 0
    assert sampler.expected_proposals < 2
    noise = draw_noise(GeneralizedGaussian(1), invariants, rng=SYSTEM_RANDOMNESS)
    # five standard errors of the mean of 54,000 squares of variance 2
    assert np.square(noise).mean() == pytest.approx(2999 * 17 / 54_000, abs=5 * (2 / 54_000) ** 0.5)


def test_small_scales_are_refused_with_the_remedy():
    many = Invariants.margins((300, 200))
    with pytest.raises(NoSamplerError, match=r"sigma: a draw .* Use a larger sigma"):
        select_sampler(GeneralizedGaussian(0.5), many)
    with pytest.raises(NoSamplerError, match=r"proposals"):
        draw_noise(GeneralizedGaussian(0.5), many, rng=SYSTEM_RANDOMNESS)
