from fractions import Fraction

import numpy as np
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from reproduction.lattices.entry import (
    build_experiment,
    build_mechanism,
    build_subsets,
    build_table,
    describe_mechanism,
)

AXES = {"sex": ["f", "m"], "age": ["young", "old", "older"]}


def test_a_table_holds_its_margins_by_name():
    table = build_table(AXES, [["sex"], ["age"]], [[1, 2, 3], [4, 5, 6]])
    assert (table.invariants.matrix == Invariants.margins((2, 3)).matrix).all()
    assert table.invariants.names[:3] == ("sex f", "sex m", "age young")
    assert table.cells[:2] == ["f / young", "f / old"]
    assert table.counts.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_higher_way_tables_and_the_grand_total():
    cube = build_experiment(
        {"axes": AXES | {"region": ["n", "s"]}, "held": [["sex", "region"], []]}
    )
    held = ((0, 2), ())
    assert (cube.invariants.matrix == Invariants.margins((2, 3, 2), held).matrix).all()
    assert cube.invariants.names[-1] == "grand total"
    assert cube.counts is None


def test_records_are_counted_from_one():
    experiment = build_subsets(3, {"A": [1, 2], "B": [2, 3]})
    assert experiment.invariants.matrix.tolist() == [[1, 1, 0], [0, 1, 1]]
    assert experiment.invariants.names == ("A", "B")
    assert experiment.cells == ["1", "2", "3"]


def test_laws_from_the_config():
    assert build_mechanism({"epsilon": 0.5, "norm": "l2"}) == GeneralizedLaplace(0.5, "l2")
    assert build_mechanism({"sigma": 3}) == GeneralizedGaussian(3)
    assert (
        describe_mechanism({"epsilon": 0.5, "norm": "l2"})
        == "l2 generalized Laplace, epsilon = 0.5"
    )
    assert describe_mechanism({"sigma": 3}) == "generalized Gaussian, sigma = 3"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: build_table(AXES, [["race"]]), "axis 'race'"),
        (lambda: build_table(AXES, [["sex", "sex"]]), "axis"),
        (lambda: build_table(AXES, [["sex"]], [[1, 2], [3, 4]]), r"counts: .*\(2, 3\)"),
        (lambda: build_table(AXES, [["sex"]], [[1, 2, 3], [4]]), "counts: "),
        (lambda: build_table(AXES, [["sex"]], [[1, 2, 3], [4, 5, -6]]), "counts: "),
        (lambda: build_table(AXES, [["sex"]], [[1, 2, 3], [4, 5, 0.5]]), "counts: "),
        (lambda: build_table(AXES, [["sex"]], [[1, 2, 3], [4, 5, "x"]]), "counts: "),
        (lambda: build_subsets(3, {"A": [0]}), "A: record 0"),
        (lambda: build_subsets(3, {"A": [2, 2]}), "cell"),
        (lambda: build_mechanism({"sigma": 0}), "sigma must be a positive number"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_gaussian_claims_no_more_than_is_known():
    guarantee = GeneralizedGaussian(4.0).guarantee
    assert (guarantee.flavour, guarantee.delta) == ("zCDP", 0)
    assert guarantee.loss_at(3) == Fraction(9, 32)
    assert "up to an unknown constant" in guarantee.statement()
    assert GeneralizedGaussian(2.0).log_weight([2, 0]) == pytest.approx(-0.5)
    assert np.isclose(GeneralizedGaussian(2.0).noise_norm([3, -4]), 5)
