"""Swapping against integer noise: the law of the noise, and both at equal error."""

import numpy as np
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.exact import enumerate_distribution
from reproduction.swapping.against_noise import (
    compare_advantages,
    compare_at_equal_error,
    expected_l1,
    noise_advantage,
    noise_distribution,
    noise_error,
    noise_mape,
    tabulate_noise_errors,
    tabulate_strata_errors,
    unchanged_probability,
)
from reproduction.swapping.printed import counts_before, read_massachusetts

ONE = counts_before(read_massachusetts("data/swapping/massachusetts_1940.csv"))


@pytest.mark.parametrize("counties", [2, 3])
@pytest.mark.parametrize("epsilon", [1.0, 2.5])
def test_noise_under_both_margins_is_noise_under_one_total_at_twice_epsilon(counties, epsilon):
    law = enumerate_distribution(Invariants.margins((counties, 2)), GeneralizedLaplace(epsilon / 2))
    values, pmf = noise_distribution(counties, epsilon)
    for value in range(-5, 6):
        chance = law.pmf[law.points[:, 0] == value].sum()
        assert pmf[values == value][0] == pytest.approx(chance, abs=1e-7)
    assert unchanged_probability(counties, epsilon) == pytest.approx(law.pmf.max(), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.7, 2.0])
def test_the_advantage_against_noise_is_the_enumerated_total_variation(epsilon):
    law = enumerate_distribution(Invariants.total(3), GeneralizedLaplace(epsilon))
    chances = dict(zip(map(tuple, law.points.tolist()), law.pmf, strict=True))
    shifted = {(a + 1, b - 1, c): p for (a, b, c), p in chances.items()}
    outputs = chances.keys() | shifted.keys()
    variation = sum(abs(chances.get(x, 0) - shifted.get(x, 0)) for x in outputs) / 2
    assert noise_advantage(3, epsilon) == pytest.approx(variation, abs=1e-6)


@pytest.mark.parametrize(("epsilon", "sd"), [(0.5, 2.5527), (0.02, 64.6405), (0.002, 646.4186)])
def test_the_spread_of_the_noise_is_what_drawing_it_otherwise_gave(epsilon, sd):
    values, pmf = noise_distribution(14, epsilon)
    assert np.sqrt((values.astype(float) ** 2 * pmf).sum()) == pytest.approx(sd, abs=5e-5)


def test_noise_of_strata_adds_up():
    values, pmf = noise_distribution(14, 0.5, strata=3)
    one, law = noise_distribution(14, 0.5)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    assert (values**2 * pmf).sum() == pytest.approx(3 * (one**2 * law).sum(), rel=1e-9)
    twelve = law
    for _ in range(11):
        twelve = np.convolve(twelve, law)
    size = np.abs(np.arange(len(twelve)) - len(twelve) // 2)
    ratio = tabulate_strata_errors(ONE[0], [0.5], 12)["mape_strata"] / noise_mape(ONE[0], 0.5)
    assert ratio.item() == pytest.approx((size @ twelve) / (np.abs(one) @ law), rel=1e-9)


def test_at_equal_error_the_errors_are_equal():
    found = compare_at_equal_error(ONE, [0.01, 0.5])
    for _, row in found.iterrows():
        assert noise_mape(ONE[0], row["epsilon_noise"]) == pytest.approx(row["mape"], rel=1e-8)
        undone = noise_mape(ONE[0], row["epsilon_noise_unmixed"])
        assert undone == pytest.approx(row["mape_unmixed"], rel=1e-8)


def test_epsilons_and_numbers_of_tables_are_those_of_an_independent_prototype():
    found = compare_at_equal_error(ONE, [0.01, 0.05, 0.1, 0.5])
    assert found["epsilon_noise"].round(5).tolist() == [0.09467, 0.01956, 0.00979, 0.00196]
    assert found["epsilon_noise_unmixed"].round(4).tolist() == [0.2745, 0.1204, 0.0820, 0.0232]
    assert found["break_even"].round().tolist() == [196, 864, 1649, 7123]
    assert found["break_even_unmixed"].round().tolist() == [68, 140, 197, 601]
    assert found["l1"].round().tolist() == [1743, 8629, 17256, 86280]
    assert found["l1_noise"].round().tolist() == [274, 1329, 2655, 13276]


def test_all_readings_of_swappings_loss_are_below_the_nominal_one_and_above_that_of_noise():
    found = compare_at_equal_error(ONE, [0.01, 0.1, 0.5])
    for reading in ("exact", "bayes_factor", "table_only"):
        assert (found[reading] < found["nominal"]).all()
        assert (found[reading] > found["epsilon_noise"]).all()
    assert (found["break_even"] > found["break_even_unmixed"]).all()


def test_at_equal_epsilon_noise_publishes_the_table_itself():
    found = tabulate_noise_errors(ONE[0], [1, 4, 6.754])
    assert found["mape"].iloc[0] == pytest.approx(0.0222, abs=5e-5)
    assert found["unchanged"].iloc[1:].round(4).tolist() == [0.9416, 0.9998]
    assert noise_error(14, 1) == found["mean_error"].iloc[0]


def test_neighbours_are_told_apart_as_an_independent_prototype_found():
    compared = compare_at_equal_error(ONE, [0.01, 0.05, 0.1, 0.5])
    found = compare_advantages(ONE, 9, 3, compared)
    assert found["swapping"].round(4).tolist() == [0.2119, 0.0929, 0.0632, 0.0180]
    assert found["noise"].round(4).tolist() == [0.0492, 0.0102, 0.0051, 0.0010]
    assert found["noise_unmixed"].round(4).tolist() == [0.1418, 0.0626, 0.0426, 0.0121]


def test_the_expected_l1_error_counts_both_columns():
    assert expected_l1(ONE, 0.5) == pytest.approx(86280, abs=1)
