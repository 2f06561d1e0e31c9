"""A request for noise holds one budget, from which everything else follows."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pandas as pd
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError
from isdp.commands.privatize.dataframe import privatize_frame
from isdp.commands.shared.request import DELTA, NoiseRequest

CELLS = pd.DataFrame({"cell": list("abcd"), "count": [14, 9, 21, 30]})


@pytest.mark.parametrize(
    ("request_", "mechanism", "epsilon", "rho"),
    [
        (NoiseRequest(GeneralizedLaplace(0.25)), GeneralizedLaplace(0.25), Fraction(1, 4), None),
        (NoiseRequest(epsilon="1/3", per="unit"), GeneralizedLaplace("1/3"), Fraction(1, 3), None),
        (NoiseRequest(epsilon=0.1, per="unit"), GeneralizedLaplace(0.1), Fraction(1, 10), None),
        (NoiseRequest(GeneralizedGaussian(2.0)), GeneralizedGaussian(2.0), None, Fraction(1, 8)),
        (NoiseRequest(sigma="5/2"), GeneralizedGaussian(2.5), None, Fraction(2, 25)),
        (
            NoiseRequest(sigma="7.81"),
            GeneralizedGaussian(7.81),
            None,
            1 / (2 * Fraction("7.81") ** 2),
        ),
        (
            NoiseRequest(rho="0.1", per="unit"),
            GeneralizedGaussian(rho="0.1"),
            None,
            Fraction(1, 10),
        ),
        (NoiseRequest(GeneralizedLaplace(0.5, "l2")), GeneralizedLaplace(0.5, "l2"), 0.5, None),
        (
            NoiseRequest(epsilon="1/2", norm="l2", per="unit"),
            GeneralizedLaplace(0.5, "l2"),
            0.5,
            None,
        ),
    ],
)
def test_every_form_of_a_budget_gives_its_mechanism(request_, mechanism, epsilon, rho):
    assert request_.mechanism == mechanism
    assert (request_.epsilon, request_.rho) == (epsilon, rho)
    assert request_.delta == (DELTA if rho else None)
    # another setting leaves the budget as it is
    assert replace(request_, experiment=True, seed=3).mechanism == mechanism


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "epsilon, rho"),
        ({"noise": GeneralizedLaplace(5.0), "epsilon": Fraction(1, 100)}, "one of"),
        ({"noise": GeneralizedGaussian(5.0), "rho": 1}, "one of"),
        ({"epsilon": 1, "rho": 1}, "one of"),
        ({"rho": 1, "sigma": 1}, "one of"),
        ({"noise": GeneralizedLaplace(1.0), "norm": "l2"}, "norm"),
        ({"rho": 1, "norm": "l1"}, "norm"),
        ({"epsilon": 1, "norm": "l3"}, "norm"),
        ({"epsilon": 1, "delta": 0.1}, "delta"),
        ({"rho": 1, "delta": 0}, "delta"),
        ({"rho": 1, "delta": "few"}, "delta"),
        ({"epsilon": 1, "seed": 4}, "seed"),
        ({"epsilon": 1, "allow_mcmc": True}, "allow_mcmc"),
        ({"noise": 0.25}, "epsilon=0.25"),
        ({"epsilon": 0}, "epsilon"),
        ({"sigma": "wide"}, "sigma"),
        ({"epsilon": 1, "per": "household"}, "per"),
    ],
)
def test_contradictions_cannot_be_expressed(given, named):
    with pytest.raises(InputError, match=named) as caught:
        NoiseRequest(**given)
    assert "--" not in str(caught.value)


def test_nothing_of_a_request_can_be_changed():
    request = NoiseRequest(epsilon=1, per="unit")
    with pytest.raises(FrozenInstanceError):
        request.epsilon = 2
    with pytest.raises(AttributeError):
        request.mechanism = GeneralizedLaplace(2.0)
    with pytest.raises(InputError):
        replace(request, rho=1)
    assert replace(request, epsilon=2).mechanism == GeneralizedLaplace(2.0)


@pytest.mark.parametrize(
    "request_", [NoiseRequest(GeneralizedLaplace(0.25)), NoiseRequest(GeneralizedGaussian(2.0))]
)
def test_the_natural_request_is_drawn_for_release(request_):
    made = privatize_frame(CELLS, count="count", total=True, request=request_)
    assert made.certificate["for_release"]
    assert made.certificate["sampler"]["arithmetic"] == "exact"


@pytest.mark.parametrize(
    ("budget", "key", "written"),
    [
        ({"epsilon": "1/3"}, "epsilon", "1/6"),
        ({"epsilon": "1/3", "per": "unit"}, "epsilon", "1/3"),
        ({"rho": "0.1"}, "rho", "1/20"),
        ({"rho": "0.1", "per": "unit"}, "rho", "1/10"),
        ({"sigma": "5/2"}, "rho", "2/25"),
    ],
)
def test_the_certificate_and_the_margins_follow_from_the_same_budget(budget, key, written):
    direct = privatize_frame(CELLS, count="count", total=True, **budget)
    by_request = privatize_frame(CELLS, count="count", total=True, request=NoiseRequest(**budget))
    assert Fraction(direct.certificate["mechanism"][key]) == Fraction(written)
    assert by_request.certificate["mechanism"] == direct.certificate["mechanism"]
    assert by_request.margins.equals(direct.margins)
    # the standard deviation of the noise that was drawn, not of another budget
    draws = privatize_frame(
        pd.DataFrame({"cell": range(4000), "count": 5}), count="count", total=True, **budget
    )
    found = (draws.frame["count"] - 5).std()
    wanted = draws.margins_full.query("what == 'cell'")["sd"].iloc[0]
    assert found == pytest.approx(wanted, rel=0.15)


def test_a_frame_takes_one_budget():
    with pytest.raises(InputError, match="request"):
        privatize_frame(CELLS, count="count", total=True, request=NoiseRequest(epsilon=1), rho=1)
    with pytest.raises(InputError, match="one of"):
        privatize_frame(CELLS, count="count", total=True, epsilon=1, rho=1)


def test_the_norm_that_cannot_be_drawn_exactly_is_named_in_pythons_terms():
    with pytest.raises(InputError, match="experiment=True"):
        privatize_frame(
            CELLS, count="count", total=True, request=NoiseRequest(epsilon=1, norm="l2")
        )


@pytest.mark.parametrize("distance", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_loss_of_a_pure_budget_at_its_distance_is_the_budget(distance, norm):
    unit = NoiseRequest(epsilon="1/3", norm=norm).per_unit(distance)
    length = distance if norm == "l1" else distance**0.5
    assert float(unit.epsilon) * length == pytest.approx(1 / 3, rel=1e-12)
    assert unit.per_unit(7) == unit


def test_the_loss_of_a_concentrated_budget_grows_with_the_squared_distance():
    assert NoiseRequest(rho="1/3").per_unit(4).rho == Fraction(1, 12)
    assert NoiseRequest(sigma=2).per_unit(4).rho == Fraction(1, 8)


def test_a_budget_per_person_has_no_mechanism_without_totals():
    with pytest.raises(InputError, match="per"):
        NoiseRequest(epsilon=1).mechanism  # noqa: B018
