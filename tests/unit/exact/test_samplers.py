"""The same question gets the same answer from every sampler."""

from functools import cache

import numpy as np
import pytest

from isdp import (
    SYSTEM_RANDOMNESS,
    GeneralizedGaussian,
    GeneralizedLaplace,
    InputError,
    Invariants,
    draw_noise,
    mcmc,
)
from isdp.errors import NoSamplerError
from isdp.exact import select_sampler
from isdp.exact.overlapping.cell_classes import CellClassSampler

TABLE = Invariants.margins((3, 3))
TWO_OF_A_TYPE = Invariants([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 1, 0, 1, 0]])


def exact(invariants, law):
    chosen = cache(lambda: select_sampler(law, invariants))
    return lambda draws: chosen().sample(np.random.default_rng(1), draws)


def staged(draws):
    return CellClassSampler(TABLE, GeneralizedLaplace(2.0)).sample(np.random.default_rng(1), draws)


def chain(law, **options):
    def draw(draws):
        rng = np.random.default_rng(1)
        return mcmc.draw_chains(law, TABLE, n_draws=draws, n_chains=2, rng=rng, **options)

    return draw


SAMPLERS = {
    "compositions": (exact(Invariants.total(9), GeneralizedLaplace(0.5)), (9,)),
    "messages": (exact(TABLE, GeneralizedLaplace(0.5)), (9,)),
    "staged": (staged, (9,)),
    "types": (exact(TWO_OF_A_TYPE, GeneralizedLaplace(0.5)), (5,)),
    "mixture": (exact(TABLE, GeneralizedLaplace(0.5, "l2")), (9,)),
    "Klein": (exact(TABLE, GeneralizedGaussian(2.0)), (9,)),
    "release, blocks": (
        lambda draws: draw_noise(
            GeneralizedLaplace(1), Invariants.total(9), n_draws=draws, rng=SYSTEM_RANDOMNESS
        ),
        (9,),
    ),
    "release, rejection": (
        lambda draws: draw_noise(
            GeneralizedLaplace(1), TABLE, n_draws=draws, rng=SYSTEM_RANDOMNESS
        ),
        (9,),
    ),
    "walk": (chain(GeneralizedLaplace(0.5)), (2, 9)),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_no_draws_are_an_empty_array(name):
    draw, shape = SAMPLERS[name]
    noise = draw(0)
    assert noise.shape == (*shape[:-1], 0, shape[-1])
    assert noise.dtype == np.int64


@pytest.mark.parametrize("draws", [-1, 1.5, True, "3", None, float("nan")])
@pytest.mark.parametrize("name", SAMPLERS)
def test_what_is_no_count_is_refused(name, draws):
    with pytest.raises(InputError, match="draws"):
        SAMPLERS[name][0](draws)


@pytest.mark.parametrize("law", [GeneralizedLaplace(0.5, "l2"), GeneralizedGaussian(2.0)])
def test_bounds_are_refused_where_no_sampler_bears_them(law):
    lower = np.full(9, -3)
    if law.energy.product:
        assert select_sampler(law, TABLE, lower).method == "messages"
        return
    with pytest.raises(NoSamplerError):
        select_sampler(law, TABLE, lower)


def test_a_gaussian_that_klein_refuses_is_refused_at_once():
    with pytest.raises(NoSamplerError):
        select_sampler(GeneralizedGaussian(0.5), Invariants.margins((16, 16)))


@pytest.mark.parametrize("law", [GeneralizedGaussian(30.0), GeneralizedLaplace(0.25, "l2")])
@pytest.mark.parametrize("invariants", [Invariants.margins((24, 24)), Invariants.total(1200)])
def test_large_tables_and_totals_are_drawn(law, invariants):
    noise = select_sampler(law, invariants).sample(np.random.default_rng(1), 2)
    assert noise.shape == (2, invariants.cells)
    assert noise.any()


@pytest.mark.parametrize("law", [GeneralizedGaussian(30.0), GeneralizedLaplace(0.25, "l2")])
def test_a_lattice_whose_basis_would_take_minutes_is_refused(law):
    crossed = Invariants(np.random.default_rng(4).integers(1, 4, (2, 1010)))  # no cell stands apart
    with pytest.raises(NoSamplerError):
        select_sampler(law, crossed)
