import math

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp import InputError
from isdp.accounting import PrivacyGuarantee
from isdp.accounting.conversions import (
    CONVERSIONS,
    convert,
    epsilon_above,
    epsilon_for,
    max_loss,
    rho_for,
)

NAMES = list(CONVERSIONS)
RHO = st.floats(1e-4, 1e3)
DELTA = st.floats(-15, -0.5).map(lambda exponent: 10**exponent)


def precise_renyi(rho, delta):
    """Corollary 13 with 300 bits, minimised over the order by golden section."""
    with flint.ctx.workprec(300):
        rho, delta = flint.arb(rho), flint.arb(delta)

        def bound(t):
            a = 1 + flint.arb(t).exp()
            return rho * a + (-(a * delta).log() + (a - 1) * (1 - 1 / a).log()) / (a - 1)

        low, high, share = flint.arb(-12), flint.arb(12), (flint.arb(5).sqrt() - 1) / 2
        for _ in range(200):
            left, right = high - share * (high - low), low + share * (high - low)
            low, high = (low, right) if bound(left) < bound(right) else (left, high)
            low, high = low.mid(), high.mid()
        return bound(low).mid()


@pytest.mark.parametrize("rho", [1e-3, 0.1, 1 / 3, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-15, 1e-10, 1e-6, 0.01, 0.999])
def test_an_epsilon_from_above_is_not_below_the_true_one(rho, delta):
    """At rho 10 and delta 0.999 the one in doubles is, by a tenth of a millionth millionth."""
    found = epsilon_above("Canonne-Kamath-Steinke", rho, delta)
    with flint.ctx.workprec(300):
        true = precise_renyi(rho, delta)
        assert flint.arb(found) >= true
        assert found == 0 or flint.arb(found) <= true * (1 + 1e-9)


@given(RHO, DELTA)
def test_the_exact_conversion_is_the_smallest_and_the_slides_the_largest(rho, delta):
    exact, renyi, slides = (
        epsilon_for(name, rho, delta)
        for name in ("exact Gaussian", "Canonne-Kamath-Steinke", "slides")
    )
    assert exact <= renyi * (1 + 1e-9) + 1e-12
    assert renyi <= slides * (1 + 1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(epsilon=st.floats(1e-3, 300), delta=DELTA)
def test_rho_and_epsilon_go_back_and_forth(name, epsilon, delta):
    rho = rho_for(name, epsilon, delta)
    assert epsilon_for(name, rho, delta) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize(
    ("rho", "slides", "renyi", "exact"),
    [
        (15.29, 52.8168, 51.5626, 49.8034),
        (2.63, 18.1938, 17.4306, 16.7420),
        (19.776, 62.4543, 61.1148, 59.0930),
    ],
)
def test_the_published_budgets_convert_as_another_program_found(rho, slides, renyi, exact):
    found = [epsilon_for(name, rho, 1e-10) for name in NAMES]
    assert found == pytest.approx([slides, renyi, exact], abs=6e-5)


def test_epsilon_is_never_negative():
    assert [epsilon_for(name, 1e-6, 0.9) for name in NAMES[1:]] == [0, 0]
    assert [epsilon_for(name, 0, 0.5) for name in NAMES] == [0, 0, 0]


def test_a_zcdp_guarantee_is_converted_for_one_person():
    law = PrivacyGuarantee(
        *("zCDP", 1.315, "l2", 2, "discrete Gaussian"),
        growth="quadratic",
        held="states",
        relation="two tables of one size",
    )
    said = convert(law, 1e-10, "slides")
    assert said.loss == said.loss_per_person == pytest.approx(18.19380261321)
    assert said.loss >= epsilon_for("slides", 2.63, 1e-10)
    assert (said.flavour, said.delta, said.growth) == ("approximate", 1e-10, "none")
    assert (said.held, said.relation) == (law.held, law.relation)
    assert "slides" in said.source


@pytest.mark.parametrize(
    "call",
    [
        lambda: epsilon_for("moments", 1, 0.1),
        lambda: epsilon_for("slides", -1, 0.1),
        lambda: epsilon_for("slides", 1, 0),
        lambda: epsilon_for("slides", 1, 1),
        lambda: epsilon_for("slides", math.nan, 0.1),
        lambda: rho_for("slides", 0, 0.1),
        lambda: rho_for("exact Gaussian", 1, 2),
        lambda: convert(PrivacyGuarantee("pure", 1, "l1", 2, "x"), 0.1, "slides"),
        lambda: convert(
            PrivacyGuarantee(
                "zCDP", 1, "l2", None, "x", growth="quadratic", why_not_per_person="y"
            ),
            *(0.1, "slides"),
        ),
    ],
)
def test_what_cannot_be_converted_is_refused(call):
    with pytest.raises(InputError):
        call()


RHOS = [1e-300, 1e-100, 1e-30, 1e-18, 1e-15, 1e-12, 1e-8, 1e-4, 0.03, 1 / 3, 2.63, 40.0]
DELTAS = [1e-300, 1e-20, 1e-10, 1e-5, 0.01, 0.5, 1 - 1e-16]


def profile(epsilon, rho):
    """Delta of Gaussian noise by its defining formula, with bits for 600 digits of cancellation."""
    with flint.ctx.workprec(4500):
        epsilon, root = flint.arb(epsilon), flint.arb(2).sqrt()
        mu = root * flint.arb(rho).sqrt()
        left, right = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return ((-left / root).erfc() - epsilon.exp() * (-right / root).erfc()) / 2


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rho", RHOS)
def test_the_epsilon_of_a_rho_holds_and_is_hardly_too_large(rho, delta):
    found = epsilon_above("exact Gaussian", rho, delta)
    assert profile(found, rho) <= flint.arb(delta)
    if found and rho >= 1e-280:  # smaller ones count as this
        assert profile(found * (1 - 1e-9), rho) > flint.arb(delta)
    renyi, slides = (epsilon_above(name, rho, delta) for name in NAMES[1::-1])
    assert found <= renyi * (1 + 1e-9)
    assert renyi <= slides * (1 + 1e-9) < math.inf


def test_a_loss_exceeds_its_bound_with_at_most_the_stated_probability():
    """The loss of two cells with one total is 2 rho (t + 1/2), with t of weight exp(-rho t^2)."""
    t = np.arange(-2000, 2001)
    epsilon_is_exceeded = False
    for rho in np.geomspace(0.01, 20, 60):
        weights = np.exp(-rho * t**2)
        losses = np.abs(2 * rho * (t + 0.5))
        for delta in (0.3, 1e-3, 1e-10):

            def exceeds(bound, weights=weights, losses=losses):
                return weights[losses > bound].sum() / weights.sum()

            assert exceeds(max_loss(rho, delta)) <= delta
            epsilon = epsilon_above("Canonne-Kamath-Steinke", rho, delta)
            epsilon_is_exceeded |= exceeds(epsilon) > delta
    assert epsilon_is_exceeded  # so that an epsilon at delta is no such bound


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rho", [5e-324, 1e-310, 1e5, 1e20, 1e100, 1e300])
@pytest.mark.parametrize("name", NAMES)
def test_no_rho_and_delta_are_too_small_or_too_large(name, rho, delta):
    found = epsilon_above(name, rho, delta)
    assert 0 <= found < math.inf
    if rho > 1e10:  # the loss is all but constant
        assert rho * (1 - 1e-3) <= found <= rho * (1 + 1e-3)


@pytest.mark.parametrize("epsilon", [1e-200, 1e200, 0, -1, math.inf, math.nan])
@pytest.mark.parametrize("name", NAMES)
def test_an_epsilon_out_of_range_has_no_rho(name, epsilon):
    with pytest.raises(InputError, match="epsilon"):
        rho_for(name, epsilon, 1e-10)


@pytest.mark.parametrize("epsilon", [1e-100, 1e-12, 1e12, 1e100])
@pytest.mark.parametrize("name", NAMES)
def test_a_rho_for_an_epsilon_gives_it_back(name, epsilon):
    assert epsilon_for(name, rho_for(name, epsilon, 1e-10), 1e-10) == pytest.approx(epsilon)
