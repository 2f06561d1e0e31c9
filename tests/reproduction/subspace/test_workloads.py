import numpy as np
import pytest

from isdp.subspace import basis_sensitivity, difference_basis, null_space
from isdp.subspace.accuracy import min_variance_approximate, min_variance_pure
from isdp.subspace.privacy.gaussian_calibration import sigma
from isdp.testing import check_mean
from reproduction.subspace.workloads import (
    build_workload,
    tabulate_errors,
    tabulate_formulas,
    tabulate_frameworks,
    tabulate_near_optimal,
    tabulate_workloads,
)

WORKLOADS = {
    "total": {"query": "histogram", "size": 16, "held": "total"},
    "margins": {"query": "histogram", "size": [4, 4], "held": "margins"},
    "blocks": {"query": "histogram", "size": [3, 5], "held": "blocks"},
    "ranges": {"query": "ranges", "size": 8, "held": "total"},
    "tree": {"query": "hierarchy", "size": [4, 4], "held": "total"},
    "consistent": {"query": "hierarchy", "size": [4, 4], "held": "total and consistency"},
    "two-way": {
        "query": "margins",
        "size": [4, 3, 2],
        "kept": [[0, 1], [0, 2], [1, 2]],
        "held": "total",
    },
}


@pytest.fixture(scope="module")
def workloads():
    return tabulate_workloads(WORKLOADS).set_index("workload")


@pytest.fixture(scope="module")
def errors():
    return tabulate_errors(np.random.default_rng(15), WORKLOADS, 0.5, 1e-5, 4000)


def test_dimensions_and_sensitivities(workloads):
    assert workloads["constraints"].tolist() == [1, 7, 2, 1, 1, 6, 1]
    assert workloads["dimension"].tolist() == [15, 9, 6, 35, 20, 15, 25]
    assert workloads["rank"].tolist() == [15, 9, 6, 7, 15, 15, 17]
    assert workloads["l1"].tolist() == [2, 2, 2, 20, 4, 4, 6]
    assert workloads["quotient"].to_numpy() == pytest.approx(workloads["l1"].to_numpy())
    assert workloads.loc["margins", "null_l2_squared"] == pytest.approx(1.5)
    assert workloads.loc["total", "l1_hadamard"] == pytest.approx(4)
    assert np.isnan(workloads.loc["margins", "l1_cosine"])


def test_simulated_errors_agree_with_exact_ones(errors):
    z = errors["z"].dropna()
    for each in z:
        check_mean(each, 0, 1)
    check_mean(np.square(z), 1, np.sqrt(2))


def test_extension_never_loses_for_gaussians_and_mostly_does_for_laplace(errors):
    table = errors.pivot(index="workload", columns="mechanism", values="error")
    ratio = table["extended Gaussian"] / table["projected Gaussian"]
    assert ratio.max() <= 1 + 1e-12
    assert ratio["margins"] == pytest.approx(0.75)
    assert (table["extended Laplace, haar"] > table["projected Laplace"])[
        ["total", "margins", "blocks", "two-way"]
    ].all()


def test_formulas_are_those_of_the_corollaries(workloads, errors):
    table = tabulate_formulas(errors, workloads.reset_index()).set_index(["workload", "mechanism"])
    assert table["off"].max() < 1e-12
    formula = table["formula"]
    assert formula["margins", "projected Gaussian"] == pytest.approx(9 * 2)
    assert formula["margins", "extended Gaussian"] == pytest.approx(9 * 1.5)
    assert formula["margins", "projected Laplace"] == pytest.approx(2 * 9 * 4)
    assert formula["total", "extended Laplace, hadamard"] == pytest.approx(2 * 15 * 16)
    assert not table.index.get_level_values("mechanism").str.contains("decomposition").any()
    wrong = tabulate_formulas(errors, workloads.reset_index().assign(dimension=4, rank=4))
    assert (wrong["off"] > 0.1).all()


def test_frameworks_are_compared_workload_by_workload(workloads, errors):
    table = tabulate_frameworks(errors, workloads.reset_index()).set_index("workload")
    assert list(table.index) == list(WORKLOADS)
    assert table["gaussian"].max() <= 1 + 1e-12
    assert table.loc["margins", "gaussian"] == pytest.approx(0.75)
    assert (table["named_min"] <= table["named_max"])[table["named_max"].notna()].all()
    bases = workloads.loc["total", ["l1_haar", "l1_helmert", "l1_hadamard", "l1_cosine"]] / 2
    assert table.loc["total", "named_max"] == pytest.approx(bases.max() ** 2)
    assert table.loc["total", "named_min"] == pytest.approx(bases.min() ** 2)


def test_extension_in_the_basis_of_the_differences_wins_on_ranges_and_loses_on_trees(
    workloads, errors
):
    table = tabulate_frameworks(errors, workloads.reset_index()).set_index("workload")
    assert table.loc["ranges", "differences"] < 0.05
    assert table.loc["ranges", "named_min"] == pytest.approx(1)
    full = table["differences_full"] / table["differences"]
    assert full["ranges"] == pytest.approx(35 / 7)
    assert full["total"] == 1
    assert table.loc["tree", "differences"] > 1.2
    assert table.loc["consistent", "differences"] > 1.2


def test_noise_on_a_completed_basis_is_private_at_the_same_scale():
    query, held = build_workload(WORKLOADS["ranges"])
    span = difference_basis(query, held).toarray()
    rest = null_space(held).project(np.eye(query.answers) - span @ span.T)
    values, vectors = np.linalg.eigh(rest @ rest.T)
    whole = np.hstack([span, vectors[:, values > 0.5]])
    assert whole.shape[1] == 35
    assert basis_sensitivity(query, whole) == pytest.approx(basis_sensitivity(query, span))


def test_units_are_numbers_of_the_workload(errors):
    units = errors.set_index(["workload", "mechanism"])["unit"]
    assert units["total", "projected Gaussian"] == pytest.approx(30)
    assert units["tree", "projected Laplace"] == pytest.approx(640)
    assert units["consistent", "projected Laplace"] == pytest.approx(480)
    assert units["tree", "K-norm"] == pytest.approx(196.941, abs=5e-4)
    assert units["two-way", "best Gaussian"] == pytest.approx(97.9255, rel=2e-5)


def test_every_error_is_above_its_bound(errors):
    assert errors["ratio"].min() > 1
    ratios = errors.set_index(["workload", "mechanism"])["ratio"]
    gaussian = sigma(0.5, 1e-5) ** 2 / min_variance_approximate(0.5, 1e-5)
    best = ratios.xs("best Gaussian", level="mechanism")
    assert best.to_numpy() == pytest.approx(np.full(7, gaussian), rel=2e-5)
    spread = min_variance_pure(0.5)
    assert ratios["tree", "K-norm"] == pytest.approx(196.941 * 4 / (spread * 48.73790), rel=1e-5)
    assert ratios["total", "projected Laplace"] == pytest.approx(480 / (spread * 30))


def test_the_theorem_s_noise_is_within_log_squared_of_the_best(workloads, errors):
    near = tabulate_near_optimal(errors.reset_index(), workloads.reset_index(), 1e-5)
    near = near.set_index("workload")
    assert len(near) == 7
    assert (near["ratio"] / np.log2(near["dimension"]) ** 2).max() <= 1
    assert near["ratio"].min() > 2
    # the theorem's order has a factor log(1/delta), and is compared with what no noise goes below
    assert near.loc["total", "order"] == pytest.approx(np.log2(15) ** 2 * np.log(1e5))
    ratios = errors.set_index(["mechanism", "workload"])["ratio"]
    paper = ratios["base decomposition, paper"].reindex(near.index)
    assert (near["part"] * near["order"]).to_numpy() == pytest.approx(paper.to_numpy())
    assert (near["to_bound"] > near["ratio"]).all()
