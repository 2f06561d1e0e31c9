import numpy as np
import pytest

from isdp import Invariants
from isdp.subspace import ProjectedGaussian, ProjectedLaplace, Query
from reproduction.subspace.properties import (
    composition_table,
    conditioning_table,
    disclosure_table,
    distributed_table,
    infeasibility_table,
    nestedness_table,
    unbiasedness_table,
)
from tests.statistical.checks import check_mean


def test_no_mechanism_that_holds_an_invariant_is_private():
    table = infeasibility_table(np.random.default_rng(1), 200)
    assert len(table) == 5
    assert (table["probability"] == 1).all()
    assert (table["neighbour_probability"] == 0).all()
    assert (table["delta"] == 1).all()


def test_smaller_subspaces_lose_no_more():
    table = nestedness_table(23.632, 0.192)
    assert table["length"].to_numpy() == pytest.approx([1, 1, 1, 0.75])
    assert table["rise"].max() <= 1e-12
    # the constant's five digits leave four of these
    assert table["delta"].to_numpy() == pytest.approx([2.6909e-8] * 3 + [5.818e-10], rel=2e-4)


def test_losses_add_and_no_more():
    row = composition_table(np.random.default_rng(2), 4, (0.5, 0.7), 2000).iloc[0]
    assert 0.99 < row["share"] <= 1 + 1e-9


def test_two_releases_that_comply_may_disclose_everything_together():
    table = disclosure_table()
    assert table["rank"].tolist() == [2, 1, 3]
    assert table["free"].tolist() == [1, 2, 0]


def test_means_are_zero():
    query, held = Query.histogram(6), Invariants.margins((2, 3))
    laws = {
        "Gaussian": ProjectedGaussian(query, held, 1.0, 1e-5),
        "Laplace": ProjectedLaplace(query, held, 1.0),
    }
    table = unbiasedness_table(np.random.default_rng(3), laws, 20_000)
    for _, row in table.iterrows():  # the farthest of six: as many times the false alarms of one
        check_mean([row["mean"]], 0, row["error"])
        assert row["mean"] != 0
    assert (table["mean"] / table["error"]).tolist() == pytest.approx(table["z"].tolist())
    for name, law in laws.items():
        error = table.set_index("mechanism").loc[name, "error"]
        assert np.isclose(error, np.sqrt(law.variances() / 20_000)).any()


def test_a_mean_that_is_not_zero_is_found_where_it_is():
    law = ProjectedGaussian(Query.histogram(6), Invariants.margins((2, 3)), 1.0, 1e-5)

    class Shifted:
        variances = law.variances

        def sample(self, rng, draws):
            return law.sample(rng, draws) + np.array([0, 0, 0, 0, -0.5, 0]) * np.sqrt(
                law.variances()
            )

    row = unbiasedness_table(np.random.default_rng(3), {"off": Shifted()}, 10_000).iloc[0]
    sd = np.sqrt(law.variances()[4])
    check_mean([row["mean"]], -0.5 * sd, sd / 100)
    check_mean([row["z"]], -50, 1)


def test_projecting_is_conditioning_for_the_sphere_alone():
    table = conditioning_table(102).set_index("noise")
    assert table["gap"].iloc[0] < 1e-13
    assert table["gap"].iloc[1] == pytest.approx(1.106, abs=5e-4)
    assert table["ratio"].iloc[2] == pytest.approx(0.98544, abs=5e-6)


def test_agents_compute_the_centre_s_noise():
    held = Invariants.margins((3, 4, 5), ((0, 1), (0, 2)))
    row = distributed_table("shared", held, 2.0).iloc[0]
    assert (row["agents"], row["components"], row["difference"]) == (60, 3, 0)
    assert row["residual"] < 1e-13
    assert row["recovered"] < 1e-12
