"""The sentences on what a release protects, and on what its exact totals reveal anyway."""

from fractions import Fraction

import numpy as np
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace
from isdp.commands.disclosure.protection import facts_of_totals, protection_sentences
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.invariants_file import HeldTotals

LAPLACE = GeneralizedLaplace(Fraction(1, 4)).guarantee
GAUSSIAN = GeneralizedGaussian(rho=Fraction(1, 4)).guarantee
COUNTY, SEX, AGE = (
    np.array(codes, dtype=np.int32) for codes in np.indices((3, 3, 2)).reshape(3, -1)
)


def sentences(guarantee, *columns, **more):
    held = [HeldTotals(f"totals by {name}", codes, (name,)) for name, codes in columns]
    facts = facts_of_totals(guarantee, find_degrees_of_freedom(held), held)
    return " ".join(protection_sentences(guarantee, facts, **more))


@pytest.mark.parametrize("guarantee", [LAPLACE, GAUSSIAN])
def test_distances_within_and_across_totals_have_their_losses(guarantee):
    text = sentences(guarantee, ("county", COUNTY))
    name = guarantee.parameter
    assert f"distance of 2: {name} is at most 0.5." in text
    assert f"is 4, where more people have to change cell: {name} is at most 1." in text
    assert "learns the county of the last person" in text
    assert "presence of a person is not protected" in text


def test_both_margins_of_a_table_reveal_the_cell_of_the_last_person():
    one_age = AGE == 0
    margins = (("county", COUNTY[one_age]), ("sex", SEX[one_age]))
    text = sentences(LAPLACE, *margins)
    assert "an l1 distance of 4: epsilon is at most 1, and other people" in text
    assert "is 6, where more people have to change cell: epsilon is at most 1.5." in text
    assert "learns the cell of the last person" in text
    assert "distance" not in sentences(LAPLACE, *margins, for_release=False)


def test_a_person_in_a_cell_without_a_total_can_come_and_go():
    inside = np.where(COUNTY == 0, 0, -1).astype(np.int32)
    held = [HeldTotals("subset first", inside)]
    facts = facts_of_totals(LAPLACE, find_degrees_of_freedom(held), held)
    text = " ".join(protection_sentences(LAPLACE, facts))
    assert "in a cell without a total is protected: epsilon is at most 0.25." in text
    assert "learns the membership in subset first of the last person" in text
