import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import InputError
from isdp.topdown import Budget, Schema
from isdp.topdown.budget import workload
from reproduction.national.sparse_descent import restrict_workload

SCHEMA = Schema(("race", "sex"), (3, 2))


def make(**changes):
    given = {
        "flavour": "pure",
        "total": 4,
        "levels": {"root": 0.2, "state": 0.3, "elsewhere": 0.5},
        "queries": {"root": {"detail": 1}, "state": {"total": 0.3, "detail": 0.7}},
    }
    return Budget(**{**given, **changes})


def test_shares_multiply_exactly_also_when_written_as_decimals():
    budget = make()
    assert budget.loss("state", "total") == Fraction(36, 100)
    assert budget.spent == 2


def test_a_query_with_a_share_of_nothing_is_not_asked():
    budget = make(queries={"root": {"detail": 1}, "state": {"total": 0, "detail": 1}})
    assert budget.measured_queries("state") == ("detail",)
    assert budget.spent == 2


def test_the_slides_variance_of_an_identity_query_over_six_levels():
    """288 / epsilon^2 less a sixth, TDA's tables: the integers' double geometric law."""
    sixth = {"nation": Fraction(1, 6), "elsewhere": Fraction(5, 6)}
    for epsilon in (1, 4):
        budget = make(total=epsilon, levels=sixth, queries={"nation": {"detail": 1}})
        found = budget.variance("nation", "detail")
        assert found == pytest.approx(288 / epsilon**2 - 1 / 6, abs=2e-3)


def test_a_zcdp_share_gives_the_variance_one_over_itself():
    assert make(flavour="zCDP").variance("root", "detail") == pytest.approx(1 / 0.8)


def test_the_guarantee_counts_what_is_spent_here():
    pure, zcdp = make().guarantee_of("state totals"), make(flavour="zCDP").guarantee_of()
    assert (pure.loss, pure.loss_at(3)) == (2, 6)
    assert (zcdp.loss, zcdp.loss_at(3)) == (2, 18)
    assert "the number of people, state totals" in pure.statement()
    assert pure.loss_per_person == 2


def test_the_table_of_the_budget_lists_what_is_asked():
    rows = make().rows(SCHEMA)
    assert [(row["level"], row["query"], row["answers"]) for row in rows] == [
        ("root", "detail", 6),
        ("state", "total", 1),
        ("state", "detail", 6),
    ]
    assert math.fsum(row["loss"] for row in rows) == pytest.approx(2)


def test_queries_count_the_cells_of_their_margins():
    queries = {"root": {"total": "1/4", "race": "1/4", "detail": "1/2"}}
    work = workload(SCHEMA, make(levels={"root": 1}, queries=queries), "root")
    assert work.rows.toarray().tolist() == [
        [1, 1, 1, 1, 1, 1],
        [1, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 1],
        *[[int(i == j) for j in range(6)] for i in range(6)],
    ]
    assert work.counts == (1, 3, 6)
    variances = [
        make(levels={"root": 1}, queries=queries).variance("root", q) for q in work.queries
    ]
    np.testing.assert_allclose(work.weights, np.repeat(np.reciprocal(variances), work.counts))
    on_two = restrict_workload(work, [2, 3])  # cells of the second race
    assert on_two.counts == (1, 1, 2)
    assert on_two.rows.toarray().tolist() == [[1] * 6, *work.rows.toarray()[[2, 6, 7]].tolist()]
    assert on_two.weights.tolist() == work.weights[[0, 2, 6, 7]].tolist()
    assert work.answers_to({"race"}).tolist() == [False, True, True, True] + [False] * 6


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"flavour": "renyi"}, "flavour"),
        ({"total": 0}, "total"),
        ({"total": 1e300}, "root, detail"),
        ({"flavour": "zCDP", "total": "1e5"}, "root, detail"),
        ({"total": float("nan")}, "total"),
        ({"levels": {"root": 0.2, "state": 0.3}}, "levels"),
        ({"levels": {"root": 0.3, "state": 0.3, "elsewhere": 0.5}}, "levels"),
        ({"levels": {"root": -0.5, "state": 1, "elsewhere": 0.5}}, "levels"),
        ({"queries": {"root": {"detail": 1}}}, "state"),
        ({"queries": {"root": {"detail": 1}, "state": {"detail": 0.9}}}, "level 'state'"),
        ({"queries": {"root": {"detail": 1}, "state": {"detail": 1.1}}}, "level 'state'"),
        ({"total": 1e-40}, "root, detail"),
    ],
)
def test_budgets_that_do_not_fit_together_are_refused(changes, named):
    with pytest.raises(InputError, match=named):
        make(**changes)


def test_a_level_must_ask_for_its_cells():
    queries = {"root": {"race": 1}}
    with pytest.raises(InputError, match="detail"):
        workload(SCHEMA, make(levels={"root": 1}, queries=queries), "root")


@pytest.mark.parametrize("query", ["age", "race*age", "race*race", ""])
def test_an_unknown_query_is_named(query):
    with pytest.raises(InputError, match="query"):
        SCHEMA.kept_axes(query)


@pytest.mark.parametrize(
    ("axes", "shape"),
    [
        ((), ()),
        (("a",), (2, 2)),
        (("a", "a"), (2, 2)),
        (("total",), (2,)),
        (("a*b",), (2,)),
        (("a",), (0,)),
    ],
)
def test_a_schema_that_cannot_be_is_refused(axes, shape):
    with pytest.raises(InputError, match="schema"):
        Schema(axes, shape)
