from pathlib import Path

import pytest

from reproduction.lattices.settings import check, leave_out
from reproduction.running.config import ConfigError

BASE = Path()


def settings(**changes):
    """A block of two variants and one table, with some keys of the table changed."""
    table = {
        "axes": {"sex": ["f", "m"], "age": ["young", "old", "older"]},
        "held": [["sex"], ["age"]],
        "laws": {"l1": {"epsilon": 1, "proposal": {"slow": 0.1, "fast": 0.9}}},
        "printed": {"l1": [[1, 2, 3], [4, 5, 6]]},
    }
    return {
        "variants": {"slow": {}, "fast": {}},
        "noise": {"variant": "slow"},
        "experiments": {"small": table | changes},
    }


def test_a_table_that_can_be_built_passes():
    check(settings(), {}, BASE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"held": [["race"]]}, "lattices.experiments.small: .*'race'"),
        ({"laws": {"l1": {"proposal": {"slow": 0.1}}}}, "small.laws.l1.proposal: .*fast, slow"),
        ({"printed": {"l1": [[1, 2], [3, 4], [5, 6]]}}, "small.printed.l1: .*shape of the axes"),
        ({"printed": {"l2": [[1, 2, 3], [4, 5, 6]]}}, "small.printed.l2: .*one of the laws l1"),
    ],
)
def test_what_cannot_be_built_is_refused_by_its_place(changes, message):
    with pytest.raises(ConfigError, match=message):
        check(settings(**changes), {}, BASE)


def test_the_variant_of_the_noise_must_be_there():
    block = settings()
    block["noise"]["variant"] = "other"
    with pytest.raises(ConfigError, match="'other' will not do; wanted: one of fast, slow"):
        check(block, {}, BASE)


def test_what_is_null_is_left_out_with_the_table_printed_for_it():
    block = settings(laws={"l1": None, "l2": {"epsilon": 2}}, printed={"l1": [[1]], "l2": [[2]]})
    block["experiments"]["gone"] = None
    leave_out(block)
    assert list(block["experiments"]) == ["small"]
    assert block["experiments"]["small"]["laws"] == {"l2": {"epsilon": 2}}
    assert block["experiments"]["small"]["printed"] == {"l2": [[2]]}


@pytest.mark.parametrize("block", [None, [], {"experiments": []}, {"experiments": {"a": 3}}])
def test_what_is_no_block_at_all_is_left_to_the_schema(block):
    leave_out(block)
