from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import benchmarks
from benchmarks import numpy_algorithm1
from benchmarks.workflow_cost import cost_table, rule_names, rule_of
from isdp import GeneralizedLaplace, Invariants
from isdp.exact import enumerate_distribution
from isdp.lattice.null_lattice import kernel_lattice
from isdp.testing import DistributionError, check_distribution

WAYS = [numpy_algorithm1.run, numpy_algorithm1.run_vectorised]
PEERS = {"peer_blackjax": "blackjax", "peer_opendp": "opendp"}  # in an environment of their own
FILES = sorted(file.stem for file in Path(benchmarks.__path__[0]).glob("*.py"))


@pytest.mark.parametrize("run", WAYS)
def test_the_transcription_has_the_library_s_law(run):
    invariants, mechanism = Invariants.total(3), GeneralizedLaplace(1.0)
    basis = kernel_lattice(invariants).basis
    rng = np.random.default_rng(1)
    # so far apart that nothing is left of the draw before
    draws = run(rng, basis, mechanism.epsilon, 0.4, draws=600, thin=40)
    check_distribution(*by_norm(draws, enumerate_distribution(invariants, mechanism)))
    with pytest.raises(DistributionError):
        check_distribution(
            *by_norm(draws, enumerate_distribution(invariants, GeneralizedLaplace(1.4)))
        )


def by_norm(draws, law):
    """Count the draws of each norm, and add up what the law gives it."""
    norms, size = np.abs(law.points).sum(axis=1), np.abs(draws).sum(axis=1)
    assert size.max() <= norms.max()
    return np.bincount(size, minlength=norms.max() + 1), np.bincount(norms, weights=law.pmf)


def test_jobs_are_added_up_by_rule(tmp_path):
    for job, seconds, memory in (
        ("sample_counties_IL", "2.5", "100.5"),
        ("sample_counties_TX", "4.0", "300.0"),
        ("sample", "9.0", "50.0"),
        ("gone_with_the_wind", "0.1", "-"),
    ):
        text = f"s\th:m:s\tmax_rss\n{seconds}\t0:00:01\t{memory}\n"
        (tmp_path / f"{job}.tsv").write_text(text)
    table = cost_table(tmp_path, ["sample", "sample_counties"]).set_index("rule")
    assert list(table.index) == ["sample", "sample_counties", "gone_with_the_wind"]
    assert table.loc["sample_counties"].tolist() == [2, 6.5, 4.0, 300.0]
    assert np.isnan(table.loc["gone_with_the_wind", "largest_max_rss_mb"])


def test_every_rule_of_the_workflow_is_known(request):
    rules = rule_names(request.config.rootpath)
    assert {"all", "sample_counties", "select_states"} <= set(rules)
    assert rule_of("sample_counties_IL", rules) == "sample_counties"


@pytest.mark.parametrize("name", FILES)
def test_every_file_finds_what_it_takes_from_the_library(name):
    if name in PEERS:
        pytest.importorskip(PEERS[name])
    import_module(f"benchmarks.{name}")
