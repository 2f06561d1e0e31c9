import math

import numpy as np
import pytest

from isdp import Invariants
from isdp.subspace import Query, min_trace_shape
from isdp.testing import check_mean
from reproduction.subspace.equal_privacy import (
    L1_UNIT,
    RECORD_UNIT,
    build_swap_query,
    compare_margins,
    compare_total,
    max_projected_step,
    tabulate_orders,
)
from reproduction.subspace.theory.two_way_error import lattice_error

# errors of what is simulated, by other means
KNOWN = {
    (RECORD_UNIT, "K-norm"): 47.55 * 16,
    (L1_UNIT, "K-norm"): 190.2,
}


@pytest.fixture(scope="module")
def total():
    return compare_total(102, 0.192, 1e-5).set_index(["currency", "mechanism"])


@pytest.fixture(scope="module")
def margins():
    return compare_margins(np.random.default_rng(8), (4, 4), 0.25, 1e-5, 3000, 400)


def test_counties_of_illinois_in_both_currencies(total):
    variances = total["variance"]
    expected = {
        (RECORD_UNIT, "projected Laplace"): 214.886,
        (RECORD_UNIT, "K-norm"): 211.757,
        (RECORD_UNIT, "generalized Laplace"): 211.590,
        (RECORD_UNIT, "centred double geometric"): 214.721,
        (RECORD_UNIT, "projected Gaussian, paper constant"): 1106.0,
        (RECORD_UNIT, "projected Gaussian, exact constant"): 567.4,
        (L1_UNIT, "projected Laplace"): 53.7216,
        (L1_UNIT, "K-norm"): 52.9392,
        (L1_UNIT, "generalized Laplace"): 52.7721,
        (L1_UNIT, "centred double geometric"): 53.557,
    }
    for row, value in expected.items():
        digits = len(str(value).partition(".")[2])
        assert round(variances[row], digits) == value
    assert round(total["bound"][RECORD_UNIT, "K-norm"] / 102, 3) == 107.114
    assert round(total["bound"][L1_UNIT, "K-norm"] / 102, 3) == 26.533


def test_under_a_total_the_order_is_one_in_both_currencies(total):
    assert not tabulate_orders(total.reset_index())["flips"].any()


def test_with_margins_the_order_flips_with_the_currency(margins):
    table = margins.set_index(["currency", "mechanism"])
    assert set(table.index[table["error_se"] > 0]) == set(KNOWN)
    table.loc[list(KNOWN), "error"] = list(KNOWN.values())  # the simulated ones lie near: see below
    orders = tabulate_orders(table.reset_index()).set_index("currency")
    assert orders.index.tolist() == [
        L1_UNIT,
        RECORD_UNIT,
    ]  # as in the table, from the least error up
    assert orders["flips"].all()
    ours, theirs = orders.loc[RECORD_UNIT, "order"], orders.loc[L1_UNIT, "order"]
    assert ours == "K-norm < projected Laplace < generalized Laplace, continuous"
    assert theirs == "generalized Laplace, continuous < K-norm < projected Laplace"


def test_errors_of_the_table_with_margins(margins):
    found = margins.set_index(["currency", "mechanism"])
    assert found["error"][RECORD_UNIT, "projected Laplace"] == pytest.approx(72 * 16)
    assert found["error"][L1_UNIT, "projected Laplace"] == pytest.approx(288)
    # least traces 13.5 and 36; four units of l1 between the nearest tables of equal margins
    for currency, trace, epsilon in ((RECORD_UNIT, 13.5, 0.25), (L1_UNIT, 36, 4 * 0.25)):
        bound = trace / (math.cosh(epsilon) - 1)  # 2a / (1 - a)^2 with a = exp(-epsilon)
        assert found["bound"][currency, "K-norm"] == pytest.approx(bound, rel=1e-6)
    for row, value in KNOWN.items():
        check_mean(found["error"][row], value, found["error_se"][row])
    assert found["error"][L1_UNIT, "generalized Laplace"] == pytest.approx(141.0557, abs=1e-4)
    continuous = found["error"].xs("generalized Laplace, continuous", level="mechanism")
    assert continuous[L1_UNIT] == pytest.approx(8.98964 * 16, rel=1e-5)
    assert continuous[RECORD_UNIT] == pytest.approx(9 * continuous[L1_UNIT])


def test_a_larger_table_is_simulated():
    found = compare_margins(np.random.default_rng(8), (5, 5), 1.0, 1e-5, 400, 400)
    integer = found[found["mechanism"] == "generalized Laplace"].iloc[0]
    assert integer["error_se"] > 0
    check_mean(integer["error"], lattice_error((5, 5), 1.0), integer["error_se"])


def test_every_error_is_above_its_bound(total, margins):
    assert total["ratio"].min() > 1
    assert margins["ratio"].min() > 1
    # where it is simulated not by chance either: by eight standard errors or more
    known = margins.set_index(["currency", "mechanism"]).loc[list(KNOWN)]
    assert (known["bound"] + 8 * known["error_se"] < list(KNOWN.values())).all()


def test_swaps_and_the_longest_projected_step():
    moves = build_swap_query(4, 4)
    assert moves.types == 36
    held = Invariants.margins((4, 4))
    assert not held.apply(moves.matrix.T).any()
    assert min_trace_shape(moves, held, "add-remove").trace == pytest.approx(36)
    assert max_projected_step(Query.histogram(16), held) == pytest.approx(3)
    assert max_projected_step(Query.histogram(5), Invariants.total(5)) == pytest.approx(2)
