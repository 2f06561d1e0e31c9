from reproduction.jobs.yaml_files import read_yaml
from reproduction.subspace.settings import describe_workload
from reproduction.subspace.workloads import build_workload
from tests import ROOT

CONFIG = read_yaml(ROOT / "config/config.yaml")


def test_every_workload_of_the_project_can_be_made():
    for entry in CONFIG["subspace"]["workloads"].values():
        query, held = build_workload(entry)
        assert query.answers == held.cells


def test_workloads_in_words():
    blocks = {"query": "histogram", "size": [3, 5], "held": "blocks"}
    assert describe_workload(blocks) == "histogram of 3+5, blocks held"
    assert describe_workload({**blocks, "held": "margins"}) == "histogram of 3 x 5, margins held"
    assert (
        describe_workload({"query": "ranges", "size": 8, "held": "total"})
        == "ranges of 8, total held"
    )
