import numpy as np
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace, Invariants
from isdp.errors import NoSamplerError
from isdp.exact import select_sampler

LAPLACE = GeneralizedLaplace(1.0)


@pytest.mark.parametrize(
    ("invariants", "mechanism", "method"),
    [
        (Invariants.total(20), LAPLACE, "compositions"),
        (Invariants.partition(["a", "b", "a", None]), LAPLACE, "compositions"),
        (Invariants([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]]), LAPLACE, "compositions"),
        (Invariants.margins((3, 3)), LAPLACE, "sums of types"),
        (Invariants.margins((4, 4)), GeneralizedLaplace(0.25), "messages"),
        (Invariants.margins((8, 8)), GeneralizedLaplace(2.5), "sums of types"),
        (Invariants.total(5), GeneralizedLaplace(0.5, "l2"), "mixture"),
        (Invariants.margins((3, 3)), GeneralizedGaussian(2.0), "crossed totals"),
        (Invariants.margins((3, 3, 3), [(0,), (1,), (2,)]), GeneralizedGaussian(2.0), "Klein"),
    ],
)
def test_the_sampler_that_fits_is_chosen_and_says_why(invariants, mechanism, method):
    chosen = select_sampler(mechanism, invariants)
    assert chosen.method == method
    assert chosen.reason
    assert 0 <= chosen.error < 1e-10
    noise = chosen.sample(np.random.default_rng(1), 50)
    assert noise.dtype == np.int64
    assert noise.shape == (50, invariants.cells)
    assert not invariants.apply(noise).any()


@pytest.mark.parametrize(
    ("invariants", "method"),
    [
        (Invariants.total(3), "halving"),
        (Invariants.total(300), "halving"),
        (Invariants.partition(i % 4 for i in range(300)), "halving"),
        (Invariants.margins((18, 18)), "crossed totals"),
    ],
)
def test_gaussian_noise_under_the_totals_of_many_cells_is_halved(invariants, method):
    chosen = select_sampler(GeneralizedGaussian(2.0), invariants)
    assert chosen.method == method
    assert chosen.error == 0


@pytest.mark.parametrize("shape", [(60, 60), (12, 12)])
def test_where_nothing_is_practical_the_table_is_refused(shape):
    with pytest.raises(NoSamplerError):
        select_sampler(GeneralizedLaplace(0.25), Invariants.margins(shape))
