import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isdp.accounting.conversions import CONVERSIONS
from reproduction.topdown.noise import (
    crossings,
    variance_gaussian,
    variance_laplace,
)

# the slides' noise tables (TDA), variance of an identity query by epsilon 1 to 5
PRINTED = {
    1e-14: [785.6, 199.4, 89.9, 51.3, 33.3],
    1e-9: [509.3, 130.3, 59.2, 34.0, 22.2],
    1e-6: [343.5, 88.8, 40.7, 23.6, 15.6],
}
PRINTED_LAPLACE = [288.0, 72.0, 32.0, 18.0, 11.5]


def crossing_slides(delta, count):
    """Epsilon below which Gaussian noise is smaller under the slides' conversion, or 0.

    The Gaussian variance is below the Laplace's where rho > epsilon^2 / (4 count). Inserted in
    epsilon = rho + 2 sqrt(rho L), with L = ln(1/delta), that is epsilon < 4 count (1 -
    sqrt(L / count)): never, unless delta > e^(-count).
    """
    return max(0.0, 4 * count * (1 - math.sqrt(-math.log(delta) / count)))


@pytest.mark.parametrize("delta", PRINTED)
def test_the_fifteen_gaussian_variances_of_the_slides(delta):
    found = [variance_gaussian("slides", epsilon, delta) for epsilon in range(1, 6)]
    assert [round(value, 1) for value in found] == PRINTED[delta]


def test_the_five_laplace_variances_of_the_slides():
    found = [variance_laplace(epsilon) for epsilon in range(1, 6)]
    assert [round(value, 1) for value in found] == PRINTED_LAPLACE


@given(st.floats(1e-2, 40), st.floats(-14, -6).map(lambda x: 10**x))
def test_under_the_slides_conversion_the_gaussian_is_larger_at_every_epsilon(epsilon, delta):
    assert variance_gaussian("slides", epsilon, delta) > variance_laplace(epsilon)
    assert crossing_slides(delta, 12) == 0


@pytest.mark.parametrize("delta", [1e-5, 1e-3, 0.1])
def test_the_crossing_in_closed_form_is_the_one_that_a_search_finds(delta):
    (found,) = crossings("slides", delta)
    assert found == pytest.approx(crossing_slides(delta, 12), rel=1e-9)


@pytest.mark.parametrize("conversion", CONVERSIONS)
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-4])
def test_the_gaussian_is_smaller_below_the_crossing_and_larger_above(conversion, delta):
    found = crossings(conversion, delta)
    assert len(found) <= 1
    for epsilon in found:
        for factor, smaller in ((0.999, True), (1.001, False)):
            at = epsilon * factor
            gaussian = variance_gaussian(conversion, at, delta)
            assert (gaussian < variance_laplace(at)) == smaller


def test_under_exact_accounting_the_closing_sentence_fails_at_the_moderate_delta():
    smaller = [
        variance_gaussian("exact Gaussian", epsilon, 1e-6) < variance_laplace(epsilon)
        for epsilon in range(1, 6)
    ]
    assert smaller == [True, True, True, True, False]
