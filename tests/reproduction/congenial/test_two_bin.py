import math

import numpy as np
import pytest
from scipy.integrate import quad

from isdp.testing import DistributionError, check_mean
from reproduction.congenial.two_bin import (
    attained_loss,
    draw_conditional_noise,
    log_density,
    tabulate_tau,
    tabulate_two_bin,
)


@pytest.mark.parametrize("beta", [None, 0, 0.2, 0.5, 0.9, 1])
def test_the_density_is_one_with_the_variance_of_the_closed_form(beta):
    epsilon = 0.7
    f = log_density(epsilon, beta)
    variance = 2 / epsilon**2 if beta is None else 8 * (beta**2 + (1 - beta) ** 2) / epsilon**2
    mass = 2 * quad(lambda v: math.exp(f(v)), 0, 150, points=[1, 5, 20])[0]
    second = 2 * quad(lambda v: v * v * math.exp(f(v)), 0, 150, points=[1, 5, 20])[0]
    assert mass == pytest.approx(1, rel=1e-6)
    assert second == pytest.approx(variance, rel=1e-6)


def test_the_density_of_the_l2_projection_is_the_papers_mixture():
    epsilon, f = 1.3, log_density(1.3, 0.5)
    for v in (0.0, 0.4, 3.0, 30.0):
        closed = epsilon / 4 * (1 + epsilon * v) * math.exp(-epsilon * v)
        assert f(v) == pytest.approx(math.log(closed), abs=1e-8)


@pytest.mark.parametrize(("beta", "loss"), [(None, 0.8), (0.5, 0.8), (0, 0.4), (0.75, 0.8 / 1.5)])
def test_the_attained_loss_is_the_papers(beta, loss):
    assert attained_loss(0.8, beta) == pytest.approx(loss, rel=2e-4)


def test_conditional_noise_is_laplace_of_half_the_scale():
    noise = draw_conditional_noise(np.random.default_rng(1), 0.5, 40_000)
    assert len(noise) == 40_000
    check_mean(np.abs(noise), 2, 2)  # the size of Laplace noise is exponential
    with pytest.raises(DistributionError):
        check_mean(np.abs(noise), 2.1, 2.1)


def test_the_table_finds_the_erratum_and_nothing_else():
    table = tabulate_two_bin(np.random.default_rng(2), [30, 70], 0.8, [0, 0.5, 1], 20_000)
    l2 = table["mechanism"] == "l2-projected"
    assert (table.loc[l2, "z_paper"].abs() > 1000).all()
    for z in (*table.loc[~l2, "z_paper"], *table["z_variance"]):
        check_mean(z, 0, 1)
    assert table["gamma"].iloc[0] == pytest.approx(-0.5)
    assert table["gamma"].iloc[-1] == -1


def test_tau_is_proportional_to_epsilon():
    table = tabulate_tau()
    assert table["tau"].to_numpy() == pytest.approx(table["epsilon"] * table["tau_paper"])
    at_one = table["epsilon"] == 1
    assert (table["off_paper"].abs() < 1e-9).equals(at_one)
