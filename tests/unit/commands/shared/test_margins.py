"""Each margin of error is what it says: exact, a bound, or simulated with its error."""

import math

import numpy as np
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace, Invariants
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom, find_degrees_of_freedom
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.margins import (
    BOUNDED,
    EXACT,
    SIZES,
    Estimate,
    MarginTarget,
    margins_of,
    targets_of,
)
from isdp.commands.shared.table import read_table
from isdp.exact import enumerate_distribution
from isdp.exact.distributions import Part, sum_distribution
from isdp.testing import check_mean

EPSILON = GeneralizedLaplace(0.25)


def overlapping(invariants):
    return DegreesOfFreedom(invariants, None, 1, np.ones(invariants.cells, dtype=int))


def asked(*rows, scope="sum"):
    return MarginTarget(scope, "asked", len(rows), np.array(rows))


def small_margin(mechanism, free, target, **more):
    (margin,) = margins_of([target], free, mechanism, **more)
    return margin


def test_kinds_of_cells_and_sums_are_told_by_their_share_of_each_block(tmp_path):
    rows = ["A,f", "A,f", "A,m", "B,f", "B,m", "C,f", "D,m"]
    path = tmp_path / "table.csv"
    path.write_text(
        "county,sex,name,count\n" + "".join(f"{r},n{i},9\n" for i, r in enumerate(rows))
    )
    table = read_table(path)
    free = find_degrees_of_freedom([HeldTotals("some", np.array([0, 0, 0, 1, 1, 2, -1]))])
    targets = targets_of(table, free, [HeldTotals("by sex", table.groups(["sex"]), ("sex",))])
    assert [(one.scope, one.name, one.cells, one.parts) for one in targets] == [
        ("cell", "a cell in no total", 1, (Part(0, 1),)),
        ("cell", "a cell in a group of 2 whose total is held", 2, (Part(2, 1),)),
        ("cell", "a cell in a group of 3 whose total is held", 3, (Part(3, 1),)),
        ("sum", "sex: f", 4, (Part(1, 1), Part(2, 1), Part(3, 2))),
        ("sum", "sex: m", 3, (Part(0, 1), Part(2, 1), Part(3, 1))),
    ]
    assert [one.rows.tolist() for one in targets] == [[6], [3], [0], [0, 1, 3, 5], [2, 4, 6]]
    margins = margins_of(targets, free, EPSILON)
    assert {margin.limit.method for margin in margins} == {"exact"}
    row = margins[0].row()
    assert row["sd"] == pytest.approx(margins[0].sd.value, rel=1e-5)
    assert (row["sd_is"], row["sd_error"], row["chance_negative_at_0_is"]) == ("exact", 0, "exact")


@pytest.mark.parametrize(("parts", "how"), [(2000, "exact"), (2001, "bounded")])
def test_the_law_of_a_sum_is_found_from_up_to_two_thousand_parts(parts, how):
    free = DegreesOfFreedom(
        Invariants.total(20), np.zeros(20, dtype=int), 19, np.ones(20, dtype=int)
    )
    target = MarginTarget("sum", "asked", 7, np.arange(7), (Part(20, 7),) * parts)
    assert small_margin(GeneralizedLaplace(2.0), free, target).limit.method == how


@pytest.mark.parametrize("epsilon", [0.05, 0.25, 2.0, 9.0, 15.0, 26.0, 40.0, 300.0])
def test_what_is_smaller_than_rounding_is_a_bound_and_not_exact(epsilon):
    """Two cells under one total: the noise of either is geometric in both directions."""
    free = DegreesOfFreedom(Invariants.total(2), np.zeros(2, dtype=int), 1, np.ones(2, dtype=int))
    target = MarginTarget("cell", "asked", 2, np.arange(2), (Part(2, 1),))
    margin = small_margin(GeneralizedLaplace(epsilon), free, target)
    a = math.exp(-2 * epsilon)
    for size in SIZES:
        figure, true = margin.negative[size], a ** (size + 1) / (1 + a)
        if figure.method == EXACT:
            assert figure.value == pytest.approx(true, rel=1e-4)
        else:
            assert figure.method == BOUNDED
            assert true <= figure.value <= 1e-8
        assert (figure.method == EXACT) == (true > 1e-9)
    sd, true = margin.sd, math.sqrt(2 * a) / (1 - a)
    if sd.method == EXACT:
        assert sd.value == pytest.approx(true, rel=1e-5)
        assert true > 1e-9
    else:
        assert sd.method == BOUNDED
        assert true <= sd.value <= 1e-4
    assert margin.unchanged[:3] == (pytest.approx((1 - a) / (1 + a)), EXACT, 0)


def test_simulated_margins_meet_the_enumerated_law_within_their_errors():
    invariants = Invariants.margins((2, 3))
    law = enumerate_distribution(invariants, GeneralizedLaplace(0.4))
    for target, cells in (
        (asked(0, scope="cell"), [0]),
        (asked(0, 4), [0, 4]),
    ):
        margin = small_margin(GeneralizedLaplace(0.4), overlapping(invariants), target, draws=4000)
        sums = law.points[:, cells].sum(axis=1)
        sd = math.sqrt(np.sum(law.pmf * sums**2))
        assert margin.sd.method == "simulated"
        spread = math.sqrt(np.sum(law.pmf * (sums**2 - sd**2) ** 2) / 4000)
        assert margin.sd.error == pytest.approx(spread / sd, rel=0.3)
        check_mean(margin.sd.value, sd, margin.sd.error / 2)  # an error is two standard errors
        for size in (0, 1, 5):
            figure = margin.negative[size]
            check_mean(figure.value, law.pmf[sums < -size].sum(), figure.error / 2)
        # one draw in twenty lies beyond the limit, and more beyond the number below it
        beyond, up_to = (
            law.pmf[abs(sums) > limit].sum()
            for limit in (margin.limit.value, margin.limit.value - 1)
        )
        check_mean(np.clip(0.05, beyond, up_to), 0.05, math.sqrt(0.05 * 0.95 / 4000))
        check_mean(margin.unchanged.value, law.pmf[sums == 0].sum(), margin.unchanged.error / 2)


def test_the_bound_for_laws_with_one_peak_holds():
    parts = (Part(20, 7), Part(5, 1))
    law = sum_distribution(EPSILON.energy, parts)
    free = DegreesOfFreedom(
        Invariants.total(25), np.zeros(25, dtype=int), 24, np.ones(25, dtype=int)
    )
    target = MarginTarget("sum", "asked", 8, np.arange(8), parts)
    many = MarginTarget("sum", "many", 8, np.arange(8), (Part(20, 7),) * 2001)
    margin, _ = margins_of([target, many], free, EPSILON)
    assert (margin.sd.method, margin.limit.method) == ("exact", "bounded")
    assert margin.sd.value == pytest.approx(law.sd)
    assert law.beyond(int(margin.limit.value)) <= 0.05
    assert all(margin.negative[size].value >= law.below(size) for size in SIZES)


def test_the_gaussian_bound_is_that_of_the_projected_gaussian():
    """Totals by three columns, which no quick sampler draws; a held total has no noise."""
    invariants, sigma = Invariants.margins((12, 12, 12), [(0,), (1,), (2,)]), 20.0
    targets = [asked(0, scope="cell"), asked(0, 157), asked(*range(144))]
    margins = margins_of(targets, overlapping(invariants), GeneralizedGaussian(sigma))
    cell = 1 - (1 + 3 * 11) / 12**3
    share = 2 * cell - 2 * (1 - 3) / 12**3  # the two cells have no total in common
    for margin, variance in zip(margins, (cell, share, 0), strict=True):
        sd = sigma * math.sqrt(variance)
        assert margin.sd.method == margin.limit.method == "bounded"
        assert margin.sd.value == pytest.approx(sd, abs=1e-6)
        assert margin.limit.value >= 1.95 * sd - 1
        for size in SIZES:
            normal = math.erfc((size + 0.5) / sd / math.sqrt(2)) / 2 if sd else 0
            assert margin.negative[size].value >= normal


@pytest.mark.parametrize(
    ("how", "value", "said"),
    [(BOUNDED, 0.81649658, 0.816497), (BOUNDED, 1.0000001, 1.00001), (EXACT, 1.0000001, 1.0)],
)
def test_a_bound_is_never_rounded_down(how, value, said):
    assert Estimate(value, how).rounded() == said
