import numpy as np
import pandas as pd
import pytest

from isdp.exact import total_distribution
from isdp.testing import check_distribution
from reproduction.counties.truncation import (
    expected_truncated,
    negative_probability,
    tabulate_curves,
    tabulate_needed,
    tabulate_truncation,
    truncation_bias,
)

COUNTIES = pd.DataFrame(
    {
        "state": ["AA"] * 3 + ["BB"],
        "fips": ["1", "2", "3", "4"],
        "county": ["small", "middle", "large", "alone"],
        "population": [10, 100, 10_000_000, 5],
    }
)


def test_the_chance_is_the_tail_of_the_exact_law():
    law = total_distribution(3, 0.2)
    for population in (0, 1, 7, 60):
        expected = law.pmf[law.support < -population].sum()
        assert negative_probability(law, population) == pytest.approx(expected, rel=1e-9)
    assert negative_probability(law, 10**9) == 0


def test_counties_add_up_and_a_state_of_one_county_has_no_noise():
    small, middle, large = chances = negative_probability(
        total_distribution(3, 0.2), [10, 100, 10_000_000]
    )
    assert small > middle > large == 0
    assert expected_truncated(np.array([5]), 0.2) == 0
    few = expected_truncated(np.array([10, 100, 10_000_000]), 0.2)
    assert few == pytest.approx(chances.sum())


def test_the_bias_is_the_mean_of_the_truncated_count():
    law = total_distribution(3, 0.2)
    mean = np.maximum(10 + law.support, 0) @ law.pmf
    assert truncation_bias(np.array([10, 100, 10_000_000]), 0.2) == pytest.approx(mean - 10)
    assert truncation_bias(np.array([5]), 0.2) == 0


def test_states_say_what_it_takes():
    sampled = pd.DataFrame(
        {
            "state": ["ZZ", "AA"],
            "chains": [3, 4],
            "draws": [9, 10],
            "releases_truncated": [1, 2],
        }
    )
    states = tabulate_truncation(COUNTIES, 0.2, sampled).set_index("state")
    assert states.loc["AA", ["least_county", "least_population"]].tolist() == ["small", 10]
    assert states.loc["AA", ["releases", "releases_truncated"]].tolist() == [40, 2]
    assert pd.isna(states.loc["BB", "releases"])
    assert pd.isna(states.loc["BB", "epsilon_to_bite"])
    bite = states.loc["AA", "epsilon_to_bite"]
    around = tabulate_curves(COUNTIES[:3], [0.97 * bite, 1.03 * bite])["expected"]
    assert around[0] > 1e-3 > around[1]


def test_the_population_needed_is_the_least_that_is_safe():
    needed = tabulate_needed([0.5], levels=(1e-3,), cells=20)["population"].iloc[0]
    law = total_distribution(20, 0.5)
    assert negative_probability(law, needed) < 1e-3 <= negative_probability(law, needed - 1)


def test_chances_against_the_mechanism_itself():
    """Simulate double geometric noise conditioned on its sum by rejection."""
    rng = np.random.default_rng(8)
    p = -np.expm1(-0.3)
    noise = rng.geometric(p, (400_000, 3)) - rng.geometric(p, (400_000, 3))
    kept = noise[noise.sum(axis=1) == 0]
    seen, chance = (kept[:, 0] < -5).sum(), negative_probability(total_distribution(3, 0.3), 5)
    check_distribution([seen, len(kept) - seen], [chance, 1 - chance])
