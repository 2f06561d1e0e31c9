import math

import pytest

from isdp.errors import InputError
from isdp.subspace.arguments import LARGEST, SMALLEST, positive


def test_the_smallest_and_the_largest_are_taken_and_what_lies_beyond_is_refused():
    assert positive("epsilon", 1e-100) == SMALLEST
    assert positive("epsilon", 1e100) == LARGEST
    assert positive("epsilon", 1) == 1.0
    for beyond in (math.nextafter(1e-100, 0), math.nextafter(1e100, math.inf)):
        with pytest.raises(InputError, match="epsilon must lie between 1e-100 and 1e\\+100"):
            positive("epsilon", beyond)


@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan, True, "1", None])
def test_what_is_no_positive_number_is_refused(value):
    with pytest.raises(InputError, match="epsilon must be a positive number"):
        positive("epsilon", value)
