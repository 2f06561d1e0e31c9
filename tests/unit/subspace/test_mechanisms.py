from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from isdp import InputError, Invariants
from isdp.subspace import (
    CorrelatedGaussian,
    ExtendedGaussian,
    ExtendedLaplace,
    KNorm,
    ProjectedGaussian,
    ProjectedLaplace,
    Query,
    base_decomposition,
    difference_basis,
    differences,
    kronecker_basis,
    min_trace_shape,
    spherical_shape,
)
from isdp.subspace.mechanisms.correlated_shapes import CovarianceShape
from isdp.subspace.privacy.gaussian_calibration import certified_delta, sigma
from tests.unit.subspace.workloads import WORKLOADS

RNG = np.random.default_rng(3510)
FOUR = WORKLOADS["4 x 4 margins"]
TREE = WORKLOADS["tree of 4 x 4"]
LAWS = {  # made when asked for: each process that runs tests imports all of them
    "projected Gaussian": lambda: ProjectedGaussian(*FOUR, 1.0, 1e-5),
    "extended Gaussian": lambda: ExtendedGaussian(*FOUR, 1.0, 1e-5, constant="paper"),
    "projected Laplace": lambda: ProjectedLaplace(*TREE, 0.5),
    "extended Laplace": lambda: ExtendedLaplace(*FOUR, 0.5, kronecker_basis((4, 4))),
    "best Gaussian": lambda: CorrelatedGaussian(min_trace_shape(*TREE), 1.0, 1e-5),
    "Gaussian of the paper": lambda: CorrelatedGaussian(base_decomposition(*TREE), 1.0, 1e-5),
    "round Gaussian": lambda: CorrelatedGaussian(spherical_shape(*TREE), 1.0, 1e-5),
    "K-norm by image": lambda: KNorm(*TREE, 1.0),
    "K-norm by hull": lambda: KNorm(*WORKLOADS["3 x 3 margins"], 1.0),
    "K-norm by walk": lambda: KNorm(*WORKLOADS["3 x 3 margins"], 1.0, method="hit-and-run"),
}


@cache
def law_of(name):
    return LAWS[name]()


@pytest.mark.parametrize("name", LAWS)
def test_noise_leaves_every_invariant_where_it_was(name):
    law = law_of(name)
    noise = law.sample(np.random.default_rng(1), 20)
    assert noise.shape == (20, law.query.answers)
    assert noise.any(axis=1).all()
    assert law.null.residual(noise) < 1e-12
    assert law.sample(np.random.default_rng(1), 0).shape == (0, law.query.answers)


@pytest.mark.parametrize("name", [name for name in LAWS if name != "K-norm by walk"])
def test_errors_are_traces_of_covariances_in_the_null_space(name):
    law = law_of(name)
    covariance = law.covariance()
    assert law.error == pytest.approx(np.trace(covariance), rel=1e-9)
    assert law.variances() == pytest.approx(np.diag(covariance), rel=1e-9)
    assert law.null.project(covariance) == pytest.approx(covariance, abs=1e-9 * law.error)


def test_errors_of_the_four_general_mechanisms():
    c = sigma(1.0, 1e-5)
    assert ProjectedGaussian(*FOUR, 1.0, 1e-5).error == pytest.approx(18 * c**2)
    assert ExtendedGaussian(*FOUR, 1.0, 1e-5).error == pytest.approx(13.5 * c**2)
    assert ProjectedLaplace(*FOUR, 1.0).error == pytest.approx(72)
    basis = kronecker_basis((4, 4), kind="hadamard")
    assert ExtendedLaplace(*FOUR, 1.0, basis).error >= 143
    ranges = WORKLOADS["ranges of 16"]
    assert ProjectedGaussian(*ranges, 1.0, 1e-5).error == pytest.approx(9720 * c**2)
    assert ProjectedLaplace(*ranges, 1.0).error == pytest.approx(1_399_680)


def test_counties_of_illinois():
    query, held = Query.histogram(102), Invariants.total(102)
    assert ProjectedLaplace(query, held, 0.192).variances()[0] == pytest.approx(214.886, abs=5e-4)
    assert KNorm(query, held, 0.192).error / 102 == pytest.approx(211.757, abs=5e-4)
    paper = ProjectedGaussian(query, held, 0.192, 1e-5, constant="paper")
    assert paper.variances()[0] == pytest.approx(1106.0, abs=5e-2)
    exact = ProjectedGaussian(query, held, 0.192, 1e-5)
    assert exact.variances()[0] == pytest.approx(567.4, abs=5e-2)
    assert ExtendedLaplace(query, held, 0.192).error / 102 > 1000


def test_the_pure_loss_of_projected_laplace_noise_may_be_below_epsilon():
    law = ProjectedLaplace(Query.histogram(2), Invariants([[3, 1]]), 1.0)
    assert law.pure_loss() == pytest.approx(2 / 3)


def test_guarantees_say_what_is_protected_and_from_what():
    law = ProjectedLaplace(*FOUR, 0.192)
    promise = law.guarantee
    assert (promise.flavour, promise.loss, promise.loss_per_person) == ("pure", 0.192, 0.192)
    assert promise.held == "7 independent invariants of the answers"
    assert "one size" in promise.relation
    adding = ProjectedLaplace(*FOUR, 0.192, relation="add-remove").guarantee
    assert adding.loss_per_person == pytest.approx(0.384)
    assert "one size" not in adding.relation


def test_the_paper_s_constant_is_never_promised_more_than_it_keeps():
    law = ProjectedGaussian(*FOUR, 1.0, 1e-14, constant="paper")
    assert law.guarantee.delta == certified_delta(1.0, law.multiplier)[1] > 2e-13
    assert ProjectedGaussian(*FOUR, 1.0, 1e-14).guarantee.delta == 1e-14
    assert ProjectedGaussian(*FOUR, 10.0, 1e-20).guarantee.loss == 10
    adding = ProjectedGaussian(*FOUR, 1.0, 1e-5, relation="add-remove").guarantee
    assert adding.per_person is None


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.0, 1.9, 3.3, 7.7, 20.0])
def test_a_rho_is_not_rounded_down(epsilon):
    law = ProjectedGaussian(Query.histogram(3), Invariants.total(3), epsilon, 1e-7)
    exact = 1 / (2 * Fraction(law.multiplier) ** 2)
    assert 0 <= Fraction(repr(law.zcdp_guarantee.loss)) / exact - 1 < 1e-15


def test_zcdp_follows_from_the_multiplier():
    law = ExtendedGaussian(*FOUR, 1.0, 1e-5)
    assert law.zcdp_guarantee.loss_per_person == pytest.approx(0.5 / law.multiplier**2)


def test_extension_beats_projection_where_the_answers_depend_on_each_other():
    for name, least, most in (("ranges of 16", 0.0106, 0.0107), ("ranges of 8", 0, 0.05)):
        query, held = WORKLOADS[name]
        extended = ExtendedLaplace(query, held, 1.0)
        assert least < extended.error / ProjectedLaplace(query, held, 1.0).error < most


def test_the_default_basis_is_never_worse_than_either_candidate():
    query, held = WORKLOADS["tree of 4 x 4"]
    error = ExtendedLaplace(query, held, 1.0).error
    assert error <= ExtendedLaplace(query, held, 1.0, "haar").error
    assert error < ExtendedLaplace(query, held, 1.0, difference_basis(query, held)).error
    consistent = WORKLOADS["consistent tree"]  # Haar does not fit these invariants
    assert ExtendedLaplace(*consistent, 1.0).basis.shape[1] == 15


def test_the_extension_may_be_smaller_than_the_null_space_if_it_holds_all_differences():
    query, held = WORKLOADS["tree of 4 x 4"]
    span = spherical_shape(query, held).geometry.span
    law = ExtendedLaplace(query, held, 1.0, span)
    assert law.basis.shape[1] == 15
    with pytest.raises(InputError, match="basis"):
        ExtendedLaplace(query, held, 1.0, span[:, :14])


def test_what_rounding_leaves_of_a_difference_beyond_length_one_is_made_good():
    shape = min_trace_shape(*TREE)
    short = CovarianceShape(shape.geometry, shape.core / (shape.longest() * (1 + 5e-7)))
    law = CorrelatedGaussian(short, 1.0, 1e-5)
    span = shape.geometry.span
    moves = differences(TREE[0]) @ span
    lengths = np.linalg.solve(span.T @ law.covariance() @ span, moves.T).T * moves
    longest = lengths.sum(axis=1).max() * law.multiplier**2
    assert 1 - 1e-6 < longest <= 1 + 1e-9


def test_a_single_cell_left_gets_no_noise_and_costs_nothing():
    query, held = Query.histogram(1), Invariants.total(1)
    laws = [
        ProjectedGaussian(query, held, 1.0, 1e-5),
        ExtendedGaussian(query, held, 1.0, 1e-5),
        ProjectedLaplace(query, held, 1.0),
        ExtendedLaplace(query, held, 1.0),
        KNorm(query, held, 1.0),
        CorrelatedGaussian(min_trace_shape(query, held), 1.0, 1e-5),
    ]
    for law in laws:
        assert not law.sample(np.random.default_rng(1), 5).any()
        assert law.error == 0
        assert (law.guarantee.flavour, law.guarantee.loss) == ("pure", 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ProjectedLaplace(*FOUR, 0),
        lambda: ProjectedLaplace(*FOUR, np.nan),
        lambda: ProjectedLaplace(*FOUR, 1.0, relation="swap"),
        lambda: ProjectedLaplace(Query.ranges(4), Invariants.total(4), 1.0),
        lambda: ProjectedGaussian(*FOUR, 1.0, 0),
        lambda: ProjectedGaussian(*FOUR, 1.0, 1e-5, constant="guess"),
        lambda: ExtendedLaplace(*FOUR, 1.0),
        lambda: ExtendedLaplace(*FOUR, 1.0, np.eye(16)),
        lambda: CorrelatedGaussian(
            CovarianceShape(spherical_shape(*FOUR).geometry, np.eye(9)), 1.0, 1e-5
        ),
        lambda: KNorm(*FOUR, 1.0),
        lambda: KNorm(*FOUR, 1.0, method="image"),
        lambda: KNorm(*FOUR, 1.0, method="hull").error,
        lambda: KNorm(*FOUR, 1.0, method="hit-and-run").error,
        lambda: KNorm(*FOUR, 1.0, method="magic"),
        lambda: ProjectedLaplace(*FOUR, 1.0).sample(RNG, -1),
    ],
)
def test_what_cannot_be_done_is_refused(make):
    with pytest.raises(InputError, match="subspace"):
        make()
