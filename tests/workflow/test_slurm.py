"""The cluster profile against a real Slurm of one node, which this test starts and stops."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.workflow.slurm import CannotStart, running_slurm

PLUGIN = Path(sys.prefix) / "slurm"  # where `make` puts it
STATE = "results/draws/counties_VT.nc"
LAW = "results/draws/exact_contingency_l1.nc"


@pytest.fixture
def slurm():
    if not (PLUGIN.is_dir() or find_spec("snakemake_executor_plugin_slurm")):
        pytest.skip("no Snakemake plugin for Slurm: `make setup` installs it")
    try:
        with running_slurm() as started:
            yield started
    except CannotStart as reason:
        pytest.skip(str(reason))


def test_the_profile_sends_the_sampling_to_slurm_and_tells_of_a_failure(checkout, finished, slurm):
    broken = checkout.folder / "workflow/scripts/exactness/draw_exact_lattice.py"
    broken.write_text("raise SystemExit('made to fail')\n")
    done = checkout.run(
        *("--workflow-profile", "workflow/profiles/slurm", "--retries", "0"),
        *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "4"),
        *("--", STATE, LAW),
        PYTHONPATH=os.pathsep.join([str(PLUGIN), os.getenv("PYTHONPATH", "")]),
    )
    console = done.stdout + done.stderr
    assert done.returncode == 1, console
    assert "Error in rule draw_exact_lattice" in console
    (log,) = checkout.folder.glob(".snakemake/slurm_logs/rule_draw_exact_lattice/**/*.log")
    assert str(log) in console
    assert "made to fail" in log.read_text()
    assert not (checkout.folder / LAW).exists()

    # the counts were read here, and the jobs asked for what the profile and the rule say
    asked = {job["JobState"]: (job["Tres"], job["TimeLimit"]) for job in slurm.jobs()}
    assert len(slurm.jobs()) == 2
    assert asked == {
        "COMPLETED": ("cpu=1,mem=1000M,node=1,billing=1", "30"),
        "FAILED": ("cpu=1,mem=2500M,node=1,billing=1", "30"),
    }
    with h5py.File(checkout.folder / STATE) as sent, h5py.File(finished.folder / STATE) as here:
        assert np.array_equal(sent["noise"][()], here["noise"][()])
