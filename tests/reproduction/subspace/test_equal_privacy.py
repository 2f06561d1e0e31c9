import math

import numpy as np
import pytest

from isdp import Invariants
from isdp.subspace import Query, min_trace_shape
from reproduction.subspace.equal_privacy import (
    RECORD,
    UNIT,
    largest_step,
    margins_table,
    order_table,
    swaps,
    total_table,
)
from tests.statistical.checks import check_mean

# errors of what is simulated, by other means
KNOWN = {
    (RECORD, "K-norm"): 47.55 * 16,
    (UNIT, "K-norm"): 190.2,
    (UNIT, "generalized Laplace"): 140.90,
    (UNIT, "generalized Laplace, continuous"): 8.991 * 16,
    (RECORD, "generalized Laplace, continuous"): 80.92 * 16,
}


@pytest.fixture(scope="module")
def total():
    return total_table(102, 0.192, 1e-5).set_index(["currency", "mechanism"])


@pytest.fixture(scope="module")
def margins():
    return margins_table(np.random.default_rng(8), (4, 4), 0.25, 1e-5, 3000, 400)


def test_counties_of_illinois_in_both_currencies(total):
    variances = total["variance"]
    expected = {
        (RECORD, "projected Laplace"): 214.886,
        (RECORD, "K-norm"): 211.757,
        (RECORD, "generalized Laplace"): 211.590,
        (RECORD, "centred double geometric"): 214.721,
        (RECORD, "projected Gaussian, paper constant"): 1106.0,
        (RECORD, "projected Gaussian, exact constant"): 567.4,
        (UNIT, "projected Laplace"): 53.7216,
        (UNIT, "K-norm"): 52.9392,
        (UNIT, "generalized Laplace"): 52.7721,
        (UNIT, "centred double geometric"): 53.557,
    }
    for row, value in expected.items():
        digits = len(str(value).partition(".")[2])
        assert round(variances[row], digits) == value
    assert round(total["bound"][RECORD, "K-norm"] / 102, 3) == 107.114
    assert round(total["bound"][UNIT, "K-norm"] / 102, 3) == 26.533


def test_under_a_total_the_order_is_one_in_both_currencies(total):
    assert not order_table(total.reset_index())["flips"].any()


def test_with_margins_the_order_flips_with_the_currency(margins):
    table = margins.set_index(["currency", "mechanism"])
    assert set(table.index[table["error_se"] > 0]) == set(KNOWN)
    table.loc[list(KNOWN), "error"] = list(KNOWN.values())  # the simulated ones lie near: see below
    orders = order_table(table.reset_index()).set_index("currency")
    assert orders.index.tolist() == [UNIT, RECORD]  # as in the table, from the least error up
    assert orders["flips"].all()
    ours, theirs = orders.loc[RECORD, "order"], orders.loc[UNIT, "order"]
    assert ours == "K-norm < projected Laplace < generalized Laplace, continuous"
    assert theirs == "generalized Laplace, continuous < K-norm < projected Laplace"


def test_errors_of_the_table_with_margins(margins):
    found = margins.set_index(["currency", "mechanism"])
    assert found["error"][RECORD, "projected Laplace"] == pytest.approx(72 * 16)
    assert found["error"][UNIT, "projected Laplace"] == pytest.approx(288)
    # least traces 13.5 and 36; four units of l1 between the nearest tables of equal margins
    for currency, trace, epsilon in ((RECORD, 13.5, 0.25), (UNIT, 36, 4 * 0.25)):
        bound = trace / (math.cosh(epsilon) - 1)  # 2a / (1 - a)^2 with a = exp(-epsilon)
        assert found["bound"][currency, "K-norm"] == pytest.approx(bound, rel=1e-6)
    for row, value in KNOWN.items():
        check_mean(found["error"][row], value, found["error_se"][row])


def test_every_error_is_above_its_bound(total, margins):
    assert total["ratio"].min() > 1
    assert margins["ratio"].min() > 1
    # where it is simulated not by chance either: by eight standard errors or more
    known = margins.set_index(["currency", "mechanism"]).loc[list(KNOWN)]
    assert (known["bound"] + 8 * known["error_se"] < list(KNOWN.values())).all()


def test_swaps_and_the_longest_projected_step():
    moves = swaps(4, 4)
    assert moves.types == 36
    held = Invariants.margins((4, 4))
    assert not held.apply(moves.matrix.T).any()
    assert min_trace_shape(moves, held, "add-remove").trace == pytest.approx(36)
    assert largest_step(Query.histogram(16), held) == pytest.approx(3)
    assert largest_step(Query.histogram(5), Invariants.total(5)) == pytest.approx(2)
