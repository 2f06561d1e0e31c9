from fractions import Fraction

import numpy as np
import pytest

from isdp import (
    SYSTEM_RANDOMNESS,
    GeneralizedGaussian,
    GeneralizedLaplace,
    InputError,
    Invariants,
    draw_noise,
)
from isdp.errors import NoSamplerError
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.release_noise import parse_epsilon
from tests.distributions import l1
from tests.exact_noise import exact_noise


def pseudo(seed=3):
    """A source of bytes that a seed decides."""
    return np.random.default_rng(seed).bytes


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (2, Fraction(2)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("1/3", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.192), Fraction(192, 1000)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(1), Fraction(1)),
        (1e-6, Fraction(1, 10**6)),
    ],
)
def test_epsilon_is_read_as_it_is_written(given, exact):
    assert parse_epsilon(given) == exact


@pytest.mark.parametrize(
    "given", [0, -1, "x", "1/0", None, True, float("nan"), float("inf"), 1e-20, 2000, 1j, [1]]
)
def test_what_is_no_epsilon_is_refused(given):
    with pytest.raises(InputError, match="epsilon"):
        parse_epsilon(given)


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-3", "0.2", 20, 1000])
@pytest.mark.parametrize("cells", [1, 2, 3, 1000])
def test_totals_are_kept_at_every_scale(cells, epsilon):
    invariants = Invariants.total(cells)
    noise = exact_noise(GeneralizedLaplace(epsilon), invariants, 3, source=pseudo())
    assert noise.shape == (3, cells)
    assert noise.dtype == np.int64
    assert not invariants.apply(noise).any()
    if cells > 2 and parse_epsilon(epsilon) < 1:
        assert noise.any()


def test_no_freedom_left_is_zero():
    for matrix in ([[1, 0], [0, 1]], [[1, 0], [1, 1]], [[5]]):
        assert not draw_noise(
            GeneralizedLaplace(0.1), Invariants(matrix), n_draws=4, rng=SYSTEM_RANDOMNESS
        ).any()


@pytest.mark.parametrize(
    ("mechanism", "arguments", "named"),
    [
        (GeneralizedLaplace(2000), {}, "epsilon"),
        (GeneralizedLaplace("1e-20"), {}, "epsilon"),
        (GeneralizedGaussian(rho="1e-30"), {}, "rho"),
        (GeneralizedLaplace(1), {"n_draws": -1}, "n_draws"),
        (GeneralizedLaplace(1), {"lower": [0, 0, 0]}, "lower"),
        (GeneralizedLaplace(1), {"rng": 1}, "rng"),
        (GeneralizedLaplace(1), {"rng": np.random.RandomState(1)}, "rng"),
        (GeneralizedLaplace(1, "l2"), {}, "exact arithmetic"),
    ],
)
def test_what_is_out_of_range_is_refused(mechanism, arguments, named):
    with pytest.raises(InputError, match=named):
        draw_noise(mechanism, Invariants.total(3), **{"rng": SYSTEM_RANDOMNESS, **arguments})


def test_sums_beyond_the_integers_of_a_double_are_refused():
    with pytest.raises(InputError):
        draw_noise(GeneralizedLaplace("1e-12"), Invariants.total(10_000), rng=SYSTEM_RANDOMNESS)
    with pytest.raises(InputError):
        CellClassSampler(Invariants.total(3), l1("1e-18"))


@pytest.mark.parametrize(
    ("invariants", "epsilon"),
    [
        (Invariants.margins((10, 10)), "1/4"),
        (Invariants.margins((50, 50)), "1/4"),
        (Invariants([[1, 2**33, 0], [0, 1, 2**33]]), 1),
    ],
)
def test_a_refusal_for_lack_of_a_sampler_names_gaussian_noise_and_its_notes_say_why(
    invariants, epsilon
):
    with pytest.raises(NoSamplerError, match="rho") as error:
        draw_noise(GeneralizedLaplace(epsilon), invariants, rng=SYSTEM_RANDOMNESS)
    assert error.value.__notes__
