import numpy as np
import pandas as pd
import pytest

from isdp import Invariants
from isdp.subspace import ProjectedGaussian, ProjectedLaplace, Query
from isdp.subspace.privacy.gaussian_calibration import multiplier
from isdp.testing import check_mean
from reproduction.subspace.checks import (
    NESTED_MULTIPLIER,
    check_all,
    check_composition,
    check_conditioning,
    check_disclosure,
    check_distributed,
    check_infeasibility,
    check_nestedness,
    check_unbiasedness,
)


@pytest.fixture(scope="module")
def table():
    return check_all(np.random.default_rng(5), 0.192, 1e-5, 1000)


def values(table, where, measure=""):
    rows = table[(table["where"] == where) & table["measure"].str.contains(measure)]
    assert len(rows)
    return rows["value"]


def test_every_proposition_meets_what_is_wanted_of_it(table):
    assert (values(table, "Example 2.4") == 1).all()
    assert values(table, "Proposition 2.7").max() <= 1e-12
    assert 0.99 < values(table, "Proposition 2.9").item() <= 1 + 1e-9
    means = table[table["where"] == "Corollary 4.1"]
    for _, row in means.iterrows():  # the farthest of 16: as many times the false alarms of one
        check_mean([row["value"]], 0, row["error"])
        assert row["value"] != 0
    assert (means["value"] / means["error"]).tolist() == pytest.approx(means["z"].tolist())
    assert table.loc[table["where"] != "Corollary 4.1", ["error", "z"]].isna().all(axis=None)
    assert (values(table, "Section 4", "difference") == 0).all()
    held = table[table["case"] == "round Gaussian"].set_index("where").loc["Theorem 4.2", "value"]
    assert held.tolist() == pytest.approx([0, 1], abs=1e-12)


def test_the_papers_multiplier_is_that_of_its_constant():
    assert round(multiplier(0.192, 1e-5, "paper"), 3) == NESTED_MULTIPLIER


def test_what_is_not_promised_does_not_hold(table):
    unasked = table[table["wanted"] == ""]
    assert unasked.loc[unasked["case"] == "both releases held", "value"].item() == 0
    gaps = values(table, "Theorem 4.2", "gap")
    assert (gaps.iloc[1:] > 0.1).all()


def test_no_mechanism_that_holds_an_invariant_is_private():
    assert [check.value for check in check_infeasibility(np.random.default_rng(1), 200)] == [1] * 5


def test_smaller_subspaces_lose_no_more():
    rises = [check.value for check in check_nestedness(23.632, 0.192)]
    assert max(rises) <= 1e-12
    # the constant's five digits leave four of these
    assert rises == pytest.approx([0, 0, 5.818e-10 - 2.6909e-8], rel=2e-4, abs=1e-20)


def test_losses_add_and_no_more():
    assert 0.99 < check_composition(np.random.default_rng(2), 4, 2000).value <= 1 + 1e-9


def test_two_releases_that_comply_may_disclose_everything_together():
    assert [check.value for check in check_disclosure()] == [1, 2, 0]


def test_means_are_zero():
    query, held = Query.histogram(6), Invariants.margins((2, 3))
    laws = {
        "Gaussian": ProjectedGaussian(query, held, 1.0, 1e-5),
        "Laplace": ProjectedLaplace(query, held, 1.0),
    }
    for check in check_unbiasedness(np.random.default_rng(3), laws, 20_000):
        # the farthest of six: as many times the false alarms of one
        check_mean([check.value], 0, check.error)
        assert check.value != 0
        assert check.value / check.error == pytest.approx(check.z)
        assert np.isclose(check.error, np.sqrt(laws[check.case].variances() / 20_000)).any()


def test_a_mean_that_is_not_zero_is_found_where_it_is():
    law = ProjectedGaussian(Query.histogram(6), Invariants.margins((2, 3)), 1.0, 1e-5)

    class Shifted:
        variances = law.variances

        def sample(self, rng, draws):
            return law.sample(rng, draws) + np.array([0, 0, 0, 0, -0.5, 0]) * np.sqrt(
                law.variances()
            )

    (check,) = check_unbiasedness(np.random.default_rng(3), {"off": Shifted()}, 10_000)
    sd = np.sqrt(law.variances()[4])
    check_mean([check.value], -0.5 * sd, sd / 100)
    check_mean([check.z], -50, 1)


def test_projecting_is_conditioning_for_the_sphere_alone():
    table = pd.DataFrame(check_conditioning(102)).pivot(
        index="case", columns="measure", values="value"
    )
    gap, ratio = table["largest gap between the covariances"], table.iloc[:, 0]
    assert gap["round Gaussian"] < 1e-13
    assert gap["Gaussian of variances 1 to 16"] == pytest.approx(1.106, abs=5e-4)
    assert ratio["Laplace on 102 cells"] == pytest.approx(0.98544, abs=5e-6)


def test_agents_compute_the_centre_s_noise():
    held = Invariants.margins((3, 4, 5), ((0, 1), (0, 2)))
    checks = check_distributed("shared", held, 2.0)
    assert {check.case for check in checks} == {"60 agents in 3 components"}
    difference, residual, recovered = (check.value for check in checks)
    assert difference == 0
    assert residual < 1e-13
    assert recovered < 1e-12
