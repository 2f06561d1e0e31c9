import copy

import pytest

from reproduction.running.config import ConfigError
from reproduction.running.yaml_files import read_yaml
from reproduction.subspace.settings import check, in_words, leave_out
from reproduction.subspace.workloads import build
from tests import ROOT

CONFIG = read_yaml(ROOT / "config/config.yaml")


def test_the_project_s_own_settings_pass_and_every_workload_can_be_made():
    check(CONFIG["subspace"], CONFIG, ROOT)
    for entry in CONFIG["subspace"]["workloads"].values():
        query, held = build(entry)
        assert query.answers == held.cells


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("workloads", "twoway", "kept"), [[0, 3]], "twoway.kept: 3 will not do; wanted: axes"),
        (("counties", "state"), "ZZ", "subspace.counties.state.0: there is no state 'ZZ'"),
        (("equal_privacy", "walk_steps"), 30, "walk_steps: 30 will not do"),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(path, value, words):
    config = copy.deepcopy(CONFIG)
    node = config["subspace"]
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    with pytest.raises(ConfigError, match=words):
        check(config["subspace"], config, ROOT)


def test_null_leaves_out_a_workload():
    subspace = {"workloads": {"a": None, "b": {"query": "ranges"}}}
    leave_out(subspace)
    assert list(subspace["workloads"]) == ["b"]


def test_workloads_in_words():
    blocks = {"query": "histogram", "size": [3, 5], "held": "blocks"}
    assert in_words(blocks) == "histogram of 3+5, blocks held"
    assert in_words({**blocks, "held": "margins"}) == "histogram of 3 x 5, margins held"
    assert in_words({"query": "ranges", "size": 8, "held": "total"}) == "ranges of 8, total held"
