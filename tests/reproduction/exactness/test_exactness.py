import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from isdp import GeneralizedGaussian, GeneralizedLaplace, Invariants
from isdp.io.draws import Draws
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk
from reproduction.exactness.experiment import (
    compare_counties,
    compare_distribution,
    draw_by_other_sampler,
    draw_exactly,
    follow_counties,
    follow_distributions,
    follow_lattice,
    gather_samples,
    pool_shares,
    space_times,
    tabulate_agreement,
    tabulate_distances,
)
from reproduction.jobs.draws import label_draws

TABLE = Invariants.margins((2, 3))
NAMES = list("abcdef")
LAPLACE = GeneralizedLaplace(0.4)
COUNTIES = {
    "epsilon": 0.5,
    "norm": "l1",
    "basis": "smith",
    "acceptance": "coordinate",
    "proposal": 0.8,
    "overdispersed": {"epsilon": 0.05, "sweeps": 100},
}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def named(draws):
    names = {"study": "lattices", "experiment": "x", "law": "l1", "sampler": "exact"}
    return label_draws(draws, **names, mechanism={})


def drawn(mechanism=LAPLACE, draws=202):
    return named(draw_exactly(np.random.default_rng(1), TABLE, mechanism, NAMES, draws))


def refused():
    none = np.zeros((4, 0, 6), np.int64)
    return named(Draws(none, TABLE, NAMES, {"method": "none", "refused": "too large"}))


def test_exact_draws_are_filed_like_chains_with_their_sampler():
    draws = drawn()
    assert draws.noise.shape == (4, 51, 6)
    assert draws.settings["method"] == "compositions"  # its cells mirror one another
    assert not TABLE.apply(draws.noise).any()


def test_where_none_is_practical_there_are_no_draws_and_the_reason_is_told():
    huge = Invariants.margins((50, 50))
    draws = draw_exactly(np.random.default_rng(1), huge, LAPLACE, [str(i) for i in range(2500)], 8)
    assert draws.noise.shape == (4, 0, 2500)
    assert draws.settings["refused"].startswith("exact: ")
    assert set(gather_samples(np.random.default_rng(1), LAPLACE, {"mcmc": draws}, draws)) == {
        "mcmc"
    }
    agreement, laws = compare_distribution(LAPLACE, refused(), {"mcmc": drawn().noise})
    table = tabulate_agreement(agreement)
    assert table["distance"].isna().all()
    assert not table["beyond"].any()
    assert table["note"].tolist() == ["too large"]
    assert set(zip(laws["series"], laws["sampler"], strict=True)) == {
        ("norm", "mcmc"),
        ("cells", "mcmc"),
    }


@pytest.mark.parametrize(
    ("mechanism", "name"), [(LAPLACE, "sums of types"), (GeneralizedGaussian(2.0), "messages")]
)
def test_a_second_exact_sampler_agrees_with_the_first(mechanism, name):
    found, noise = draw_by_other_sampler(np.random.default_rng(2), TABLE, mechanism, 3000)
    assert found == name
    first = drawn(mechanism, 3000)
    agreement, _ = compare_distribution(mechanism, first, {found: noise[None]})
    assert agreement["statistic"].tolist() == ["norm", "cells"]
    assert not tabulate_agreement(agreement)["beyond"].any()


def test_l2_has_no_second_sampler():
    assert (
        draw_by_other_sampler(np.random.default_rng(1), TABLE, GeneralizedLaplace(1.0, "l2"), 5)
        is None
    )


def test_a_distance_above_its_bound_is_seen():
    walk = LatticeWalk(kernel_lattice(TABLE, "lll"), LAPLACE, 0.5)
    curve = pd.DataFrame({"t": [0, 2, 200], "bound": [1.0, 0.9, 0.0], "high": [1.0, 0.95, 0.01]})
    curve["censored"] = 0
    settings = {"chains": 100, "points": 3, "longest": 1000}
    followed = follow_lattice(np.random.default_rng(3), walk, drawn(), curve, **settings)
    names = {"experiment": "x", "law": "l1", "variant": "reduced"}
    table = tabulate_distances(followed.assign(**names)).set_index("statistic")
    assert set(table.index) == {"norm", "cells", "in full"}
    assert (table["largest_excess"] < 0.01).all()
    low = followed.assign(**names, high=0.0)
    assert tabulate_distances(low).set_index("statistic").loc["in full", "largest_excess"] > 0.1


def test_a_bound_takes_longer_than_the_distance_to_fall_below_a_tenth():
    columns = {"t": [0, 4, 9, 99], "distance": [0.5, 0.1, 0.05, 0.01], "bound": [1, 0.5, 0.1, 0.05]}
    named = {"experiment": "x", "law": "l1", "variant": "v", "statistic": "norm"}
    followed = pd.DataFrame(columns).assign(**named, error=0.01, detectable=0.02, high=1.0)
    table = tabulate_distances(followed)
    assert table["needless"].tolist() == [10]  # a hundred states to ten
    assert table["detectable"].tolist() == [0.02]


def test_without_exact_draws_there_is_no_distance_and_no_error():
    walk = LatticeWalk(kernel_lattice(TABLE, "lll"), LAPLACE, 0.5)
    curve = pd.DataFrame({"t": [0, 5], "bound": [1.0, 0.2], "high": [1.0, 0.3]})
    curve["censored"] = 0
    settings = {"chains": 10, "points": 2, "longest": 9}
    followed = follow_lattice(np.random.default_rng(3), walk, refused(), curve, **settings)
    assert followed.empty
    named = followed.assign(experiment="x", law="l1", variant="v")
    assert tabulate_distances(named).empty


def test_counties_are_followed_from_far_to_near():
    exact = draw_exactly(
        np.random.default_rng(4), Invariants.total(6), GeneralizedLaplace(0.5), NAMES, 4000
    ).noise
    rng = np.random.default_rng(5)
    curve = follow_counties(rng, exact, COUNTIES, chains=200, times=[0, 100])
    assert curve["distance"].iloc[0] > curve["error"].iloc[0]
    assert curve["distance"].iloc[1] < curve["error"].iloc[1]
    shares = pool_shares({"exact": exact}, GeneralizedLaplace(0.5))
    totals = shares.groupby("sampler")["share"].sum()
    assert totals["exact"] == pytest.approx(1)
    assert totals["law"] == pytest.approx(1, abs=1e-6)
    assert set(pool_shares({"exact": exact}, GeneralizedLaplace(1.0, "l2"))["sampler"]) == {"exact"}


def test_what_two_panels_show_is_told_apart_by_its_series():
    _, table = compare_distribution(LAPLACE, drawn(), {"mcmc": drawn().noise})
    assert table["share"].notna().tolist() == (table["series"] == "norm").tolist()
    assert table["q50"].notna().tolist() == (table["series"] == "cells").tolist()


def test_the_bound_is_that_of_the_law_and_variant_at_its_chosen_lag():
    keys = [(law, variant, lag) for law in "ab" for variant in "pr" for lag in (4, 8)]
    table = pd.DataFrame(keys, columns=["law", "variant", "lag"])
    curves = table.assign(t=0, bound=range(8), high=1.0, chosen=table["lag"] == 8, censored=5)
    walk = LatticeWalk(kernel_lattice(TABLE, "lll"), LAPLACE, 0.5)
    settings = {"chains": 10, "points": 1, "longest": 9}
    walks = {("b", "p"): walk, ("a", "r"): walk}
    followed = follow_distributions(1, "x", walks, {"a": drawn(), "b": drawn()}, curves, settings)
    told = followed[["experiment", "law", "variant", "bound", "censored"]].drop_duplicates()
    assert told.to_numpy().tolist() == [["x", "b", "p", 5, 5], ["x", "a", "r", 3, 5]]


def test_counties_of_every_state_are_compared():
    mechanism = GeneralizedLaplace(0.5)
    exact = draw_exactly(np.random.default_rng(4), Invariants.total(6), mechanism, NAMES, 400)
    states = {"XX": named(exact), "YY": named(exact)}
    tables = compare_counties(1, states, states, walk=COUNTIES, chains=20, burn_in=3)
    assert set(tables) == {"agreement", "shares", "distances"}
    for table in tables.values():
        assert table["state"].unique().tolist() == ["XX", "YY"]
    assert (tables["agreement"]["distance"] == 0).all()
    assert set(tables["shares"]["sampler"]) == {"mcmc", "exact", "law"}


def test_chains_are_laid_over_exact_draws_cell_by_cell():
    exact = drawn(draws=400)
    turned = Draws(exact.noise[..., ::-1], TABLE, NAMES[::-1])
    samples = gather_samples(
        np.random.default_rng(6), LAPLACE, {"paper": turned, "mcmc": exact}, exact
    )
    assert list(samples)[:2] == ["paper", "mcmc"]
    for sampler in ("paper", "mcmc"):
        assert (samples[sampler] == exact.noise).all()
    assert samples["sums of types"].shape == (1, 400, 6)
    assert set(gather_samples(np.random.default_rng(6), LAPLACE, {"mcmc": exact}, refused())) == {
        "mcmc"
    }


def test_times_go_from_none_to_the_end_of_the_burn_in():
    times = space_times(500)
    assert (times[0], times[-1]) == (0, 500)
    assert times == sorted(set(times))
