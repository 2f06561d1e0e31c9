"""Each margin of error is what it says: exact, a bound, or simulated with its error."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import isdp.privatize.margins as module
from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from isdp.exact import enumerate_law
from isdp.exact.laws import Part, sum_law
from isdp.privatize.freedom import Freedom, find_freedom
from isdp.privatize.held import Held
from isdp.privatize.margins import BOUNDED, EXACT, SIZES, Figure, Target, margins_of, targets_of
from isdp.privatize.table import read_table
from tests.statistical.checks import check_mean

EPSILON = GeneralizedLaplace(0.25)


def no_sampler(*_, **__):
    raise InputError("no exact sampler is practical")


def overlapping(invariants):
    return Freedom(invariants, None, 1, np.ones(invariants.cells, dtype=int))


def asked(*rows, what="sum"):
    return Target(what, "asked", len(rows), np.array(rows))


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
    free = find_freedom([Held("some", np.array([0, 0, 0, 1, 1, 2, -1]))])
    targets = targets_of(table, free, [Held("by sex", table.groups(["sex"]), ("sex",))])
    assert [(one.what, one.name, one.cells, one.parts) for one in targets] == [
        ("cell", "a cell in no total", 1, (Part(0, 1),)),
        ("cell", "a cell among 2 with one total", 2, (Part(2, 1),)),
        ("cell", "a cell among 3 with one total", 3, (Part(3, 1),)),
        ("sum", "sex: f", 4, (Part(1, 1), Part(2, 1), Part(3, 2))),
        ("sum", "sex: m", 3, (Part(0, 1), Part(2, 1), Part(3, 1))),
    ]
    assert [one.rows.tolist() for one in targets] == [[6], [3], [0], [0, 1, 3, 5], [2, 4, 6]]
    margins = margins_of(targets, free, EPSILON)
    assert {margin.limit.how for margin in margins} == {"exact"}
    row = margins[0].row()
    assert row["sd"] == pytest.approx(margins[0].sd.value, rel=1e-5)
    assert (row["sd_is"], row["sd_error"], row["chance_negative_at_0_is"]) == ("exact", 0, "exact")


@pytest.mark.parametrize(("parts", "how"), [(2000, "exact"), (2001, "bounded")])
def test_the_law_of_a_sum_is_found_from_up_to_two_thousand_parts(parts, how):
    free = Freedom(Invariants.total(20), np.zeros(20, dtype=int), 19, np.ones(20, dtype=int))
    target = Target("sum", "asked", 7, np.arange(7), (Part(20, 7),) * parts)
    assert small_margin(GeneralizedLaplace(2.0), free, target).limit.how == how


@pytest.mark.parametrize("epsilon", [0.05, 0.25, 2.0])
def test_what_is_smaller_than_rounding_is_a_bound_and_not_exact(epsilon):
    """Two cells under one total: the noise of either is geometric in both directions."""
    free = Freedom(Invariants.total(2), np.zeros(2, dtype=int), 1, np.ones(2, dtype=int))
    target = Target("cell", "asked", 2, np.arange(2), (Part(2, 1),))
    margin = small_margin(GeneralizedLaplace(epsilon), free, target)
    a = math.exp(-2 * epsilon)
    for size in SIZES:
        figure, true = margin.negative[size], a ** (size + 1) / (1 + a)
        if figure.how == EXACT:
            assert figure.value == pytest.approx(true, rel=1e-4)
        else:
            assert figure.how == BOUNDED
            assert true <= figure.value <= 1e-8
        assert (figure.how == EXACT) == (true > 1e-9)


def test_simulated_margins_meet_the_enumerated_law_within_their_errors():
    invariants = Invariants.margins((2, 3))
    law = enumerate_law(invariants, GeneralizedLaplace(0.4))
    for target, cells in (
        (asked(0, what="cell"), [0]),
        (asked(*range(6), what="cell"), [0]),
        (asked(0, 4), [0, 4]),
    ):
        margin = small_margin(GeneralizedLaplace(0.4), overlapping(invariants), target, draws=4000)
        sums = law.points[:, cells].sum(axis=1)
        sd = math.sqrt(np.sum(law.pmf * sums**2))
        assert margin.sd.how == "simulated"
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


@pytest.mark.parametrize("draws", [300, 4800])
def test_errors_of_draws_by_hand(draws):
    """Squares are 0 and 4 in turn: of mean 2, and 2 away from it."""
    values = np.array([0, 2, 0, -2] * (draws // 4))[:, None]
    margin = module._of_draws(asked(0), values)
    of_a_mean = math.sqrt(draws - 1)  # each but one of the draws tells of the spread
    assert margin.sd.value == pytest.approx(math.sqrt(2))
    assert margin.sd.error == pytest.approx(2 * 2 / of_a_mean / (2 * math.sqrt(2)))
    assert margin.negative[0].value == 1 / 4
    assert margin.negative[0].error == pytest.approx(2 * 0.5 / of_a_mean / 2)
    assert margin.unchanged.value == 1 / 2
    assert margin.unchanged.error == pytest.approx(2 * 0.5 / of_a_mean)


def test_the_bound_for_laws_with_one_peak_holds(monkeypatch):
    energy, parts = EPSILON.energy, (Part(20, 7), Part(5, 1))
    law = sum_law(energy, parts)
    for size in (*range(40), 100):
        assert module._peaked(law.sd**2, size) >= law.beyond(size)
    monkeypatch.setattr(module, "MOST_PARTS", 0)
    free = Freedom(Invariants.total(25), np.zeros(25, dtype=int), 24, np.ones(25, dtype=int))
    target = Target("sum", "asked", 8, np.arange(8), parts)
    margin = small_margin(EPSILON, free, target)
    assert (margin.sd.how, margin.limit.how) == ("exact", "bounded")
    assert margin.sd.value == pytest.approx(law.sd)
    assert law.beyond(int(margin.limit.value)) <= 0.05
    assert all(margin.negative[size].value >= law.below(size) for size in SIZES)


@pytest.mark.parametrize("sigma", [0.4, 1.0, 1.7])
def test_the_bound_for_gaussian_noise_holds_on_margins(monkeypatch, sigma):
    monkeypatch.setattr(module, "choose", no_sampler)
    points = np.array(list(itertools.product(range(-9, 10), repeat=2)))
    basis = np.array([[1, -1, 0, -1, 1, 0], [0, 1, -1, 0, -1, 1]])
    noise = points @ basis
    weights = np.exp(-(noise**2).sum(axis=1) / (2 * sigma**2))
    weights /= weights.sum()
    free = overlapping(Invariants.margins((2, 3)))
    for rows in ([0], [0, 4], [0, 1], [0, 1, 2]):
        sums = noise[:, rows].sum(axis=1)
        margin = small_margin(GeneralizedGaussian(sigma), free, asked(*rows))
        assert margin.sd.how == margin.limit.how == "bounded"
        assert margin.sd.value >= math.sqrt(np.sum(weights * sums**2)) - 1e-9
        assert weights[abs(sums) > margin.limit.value].sum() <= 0.05
        for size in SIZES:
            assert margin.negative[size].value >= weights[sums < -size].sum() - 1e-12
    assert margin.sd.value < 1e-6  # a row is held


def test_the_gaussian_bound_is_close_where_sigma_is_large(monkeypatch):
    monkeypatch.setattr(module, "choose", no_sampler)
    free = overlapping(Invariants.margins((4, 4)))
    margin = small_margin(GeneralizedGaussian(20.0), free, asked(0, what="cell"))
    assert margin.sd.value == pytest.approx(20 * math.sqrt(9 / 16))


@pytest.mark.parametrize(("tries", "wanted"), [(1.0, 400), (2e4, 250), (5e4, 100), (6e4, None)])
def test_no_more_is_simulated_than_takes_seconds(tries, wanted):
    sampler = SimpleNamespace(expected_tries=tries)
    if wanted is None:
        with pytest.raises(InputError, match="too many tries"):
            module._affordable(sampler, 16, 400)
    else:
        assert module._affordable(sampler, 16, 400) == wanted
    assert module._affordable(SimpleNamespace(expected_tries=1.0), 51_000, 2000) == 196


def test_what_nobody_knows_is_said_to_be_unknown(monkeypatch):
    monkeypatch.setattr(module, "choose", no_sampler)
    margin = small_margin(EPSILON, overlapping(Invariants.margins((3, 3))), asked(0))
    assert {margin.sd.how, margin.limit.how, margin.negative[5].how} == {"unknown"}
    assert math.isnan(margin.sd.value)


def test_the_first_number_that_will_do():
    assert [module._first(lambda x, least=least: x >= least) for least in (0, 1, 2, 77)] == [
        0,
        1,
        2,
        77,
    ]


@pytest.mark.parametrize(
    ("how", "value", "said"),
    [(BOUNDED, 0.81649658, 0.816497), (BOUNDED, 1.0000001, 1.00001), (EXACT, 1.0000001, 1.0)],
)
def test_a_bound_is_never_rounded_down(how, value, said):
    assert Figure(value, how).rounded() == said
