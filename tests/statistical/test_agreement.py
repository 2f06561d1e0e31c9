"""The distances of chains from exact laws: never above the truth, and they see what is wrong."""

import numpy as np

from isdp import GeneralizedLaplace, Invariants, draw_noise
from isdp.diagnostics.kolmogorov import agreement_rows, kolmogorov_bound, kolmogorov_distance
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.testing import check_mean
from reproduction.exactness.chain_distance import (
    distance_curve,
)

TABLE = Invariants.margins((2, 3))
LAW = GeneralizedLaplace(0.8)


def walk(acceptance="coordinate", epsilon=0.8, basis="lll"):
    return LatticeWalk(kernel_lattice(TABLE, basis), GeneralizedLaplace(epsilon), 0.4, acceptance)


def test_the_bound_holds_for_one_law_and_not_for_another():
    rng = np.random.default_rng(1)
    distances = [kolmogorov_distance(rng.poisson(9, 400), rng.poisson(9, 900)) for _ in range(300)]
    assert max(distances) < kolmogorov_bound(400, 900)
    assert kolmogorov_distance(rng.poisson(9, 4000), rng.poisson(10, 9000)) > kolmogorov_bound(
        4000, 9000
    )


def check(noise, exact):
    rows = agreement_rows(noise, exact, LAW, {"experiment": "x"})
    assert rows["statistic"].tolist() == ["norm", "cells"]
    return (rows["distance"] <= rows["bound"]).tolist()


def test_a_right_chain_agrees_and_a_wrong_scale_does_not():
    exact = draw_noise(LAW, TABLE, n_draws=40_000, rng=np.random.default_rng(2))
    right, _ = run_chains(np.random.default_rng(3), walk(), n_draws=5000, thin=8)
    assert check(right, exact) == [True, True]
    wrong, _ = run_chains(np.random.default_rng(3), walk(epsilon=0.66), n_draws=5000, thin=8)
    assert check(wrong, exact)[0] is False


def test_estimated_distances_lie_below_the_distance_in_full():
    exact = draw_noise(LAW, TABLE, n_draws=20_000, rng=np.random.default_rng(4))
    curve = distance_curve(
        np.random.default_rng(5), walk("joint"), exact, chains=400, times=[0, 1, 3, 10, 80]
    )
    wide = curve.pivot(index="t", columns="statistic", values="distance")
    error = curve.pivot(index="t", columns="statistic", values="error")
    for statistic in ("norm", "cells"):
        assert (wide[statistic] <= wide["in full"] + error[statistic]).all()
    chance = wide.loc[0, "in full"]  # of any noise at all: all chains start without
    check_mean(wide.loc[0, "norm"], chance, np.sqrt(chance * (1 - chance) / len(exact)))
    assert wide.loc[80, "norm"] < error.loc[80, "norm"]
