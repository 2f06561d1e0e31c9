import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from isdp import GeneralizedGaussian, GeneralizedLaplace, Invariants
from isdp.diagnostics.kolmogorov import norm_histogram
from isdp.io.draws import Draws
from isdp.lattice.kernel import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk
from isdp.plots import laws
from reproduction.exactness.experiment import (
    agreement_table,
    compare_law,
    distance_table,
    exact_draws,
    follow_counties,
    follow_lattice,
    other_sampler,
    pooled_shares,
)

TABLE = Invariants.margins((2, 3))
NAMES = list("abcdef")
LAPLACE = GeneralizedLaplace(0.4)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def drawn(mechanism=LAPLACE, draws=202):
    return exact_draws(np.random.default_rng(1), TABLE, mechanism, NAMES, draws)


def refused():
    none = np.zeros((4, 0, 6), np.int64)
    return Draws(none, TABLE, NAMES, {"method": "none", "refused": "too large"})


def test_exact_draws_are_filed_like_chains_with_their_sampler():
    draws = drawn()
    assert draws.noise.shape == (4, 51, 6)
    assert draws.settings["method"] == "messages"
    assert not TABLE.apply(draws.noise).any()


def test_where_none_is_practical_there_are_no_draws_and_the_reason_is_told():
    huge = Invariants.margins((50, 50))
    draws = exact_draws(np.random.default_rng(1), huge, LAPLACE, [str(i) for i in range(2500)], 8)
    assert draws.noise.shape == (4, 0, 2500)
    assert "too many" in draws.settings["refused"]
    agreement, norms, quantiles = compare_law(
        "x", "l1", LAPLACE, refused(), {"mcmc": drawn().noise}
    )
    table = agreement_table(agreement)
    assert table["distance"].isna().all()
    assert not table["beyond"].any()
    assert table["note"].tolist() == ["too large"]
    assert set(norms["sampler"]) == set(quantiles["sampler"]) == {"mcmc"}


@pytest.mark.parametrize(
    ("mechanism", "name"), [(LAPLACE, "staged rejection"), (GeneralizedGaussian(2.0), "messages")]
)
def test_a_second_exact_sampler_agrees_with_the_first(mechanism, name):
    found, noise = other_sampler(np.random.default_rng(2), TABLE, mechanism, 3000)
    assert found == name
    first = drawn(mechanism, 3000)
    agreement, *_ = compare_law("x", "law", mechanism, first, {found: noise[None]})
    assert agreement["statistic"].tolist() == ["norm", "cells"]
    assert not agreement_table(agreement)["beyond"].any()


def test_l2_has_no_second_sampler():
    assert other_sampler(np.random.default_rng(1), TABLE, GeneralizedLaplace(1.0, "l2"), 5) is None


def test_a_distance_above_its_bound_is_seen():
    walk = LatticeWalk(kernel_lattice(TABLE, "lll"), LAPLACE, 0.5)
    curve = pd.DataFrame({"t": [0, 2, 200], "bound": [1.0, 0.9, 0.0], "high": [1.0, 0.95, 0.01]})
    settings = {"chains": 100, "points": 3, "longest": 1000}
    followed = follow_lattice(np.random.default_rng(3), walk, drawn(), curve, **settings)
    names = {"experiment": "x", "norm": "l1", "variant": "reduced"}
    table = distance_table(followed.assign(**names)).set_index("statistic")
    assert set(table.index) == {"norm", "cells", "in full"}
    assert (table["largest_excess"] < 0.01).all()
    low = followed.assign(**names, high=0.0)
    assert distance_table(low).set_index("statistic").loc["in full", "largest_excess"] > 0.1


def test_without_exact_draws_there_is_no_distance_and_no_error():
    walk = LatticeWalk(kernel_lattice(TABLE, "lll"), LAPLACE, 0.5)
    curve = pd.DataFrame({"t": [0, 5], "bound": [1.0, 0.2], "high": [1.0, 0.3]})
    settings = {"chains": 10, "points": 2, "longest": 9}
    followed = follow_lattice(np.random.default_rng(3), walk, refused(), curve, **settings)
    assert followed.empty
    named = followed.assign(experiment="x", norm="l1", variant="v")
    assert distance_table(named).empty


def test_counties_are_followed_from_far_to_near():
    exact = exact_draws(
        np.random.default_rng(4), Invariants.total(6), GeneralizedLaplace(0.5), NAMES, 4000
    ).noise
    curve = follow_counties(
        np.random.default_rng(5),
        6,
        exact,
        epsilon=0.5,
        norm="l1",
        basis="smith",
        acceptance="coordinate",
        proposal=0.8,
        overdispersed={"epsilon": 0.05, "sweeps": 100},
        chains=200,
        times=[0, 100],
    )
    assert curve["distance"].iloc[0] > 0.5
    assert curve["distance"].iloc[1] < curve["error"].iloc[1]
    shares = pooled_shares("XX", {"exact": exact}, GeneralizedLaplace(0.5))
    totals = shares.groupby("sampler")["share"].sum()
    assert totals["exact"] == pytest.approx(1)
    assert totals["law"] == pytest.approx(1, abs=1e-6)
    assert set(pooled_shares("XX", {"exact": exact}, GeneralizedLaplace(1.0, "l2"))["sampler"]) == {
        "exact"
    }


def test_bins_of_even_norms_are_even():
    even = norm_histogram({"a": np.array([2, 4, 100])}, lambda x: x)
    assert set(even["high"] - even["low"]) == {4}
    assert even["share"].sum() == pytest.approx(1)


def test_the_figure_gives_each_samplers_distance_and_bound():
    agreement, norms, quantiles = compare_law(
        "x", "l1", LAPLACE, drawn(), {"mcmc": drawn(draws=400).noise}
    )
    figure = laws.laws(
        norms, quantiles, agreement, "title", {"l1": "the law"}, {"mcmc": "Markov chains"}
    )
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    row = agreement.iloc[0]
    assert f"Markov chains: {row['distance']:.3f} (bound {row['bound']:.3f})" in titles[0]
