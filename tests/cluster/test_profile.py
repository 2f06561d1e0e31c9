"""The cluster profile against a real Slurm: what jobs ask for, and how a failure is told."""

import h5py
import numpy as np

from tests.cluster.conftest import PROFILE
from tests.workflow.conftest import Checkout

STATE = "results/draws/counties_VT.nc"
LAW = "results/draws/exact_contingency_l1.nc"


def test_the_profile_sends_the_sampling_and_tells_of_a_failure(tmp_path, slurm, with_plugin):
    folders = tmp_path / "here", tmp_path / "there"
    for folder in folders:
        folder.mkdir()
    here, there = map(Checkout, folders)
    broken = there.folder / "workflow/scripts/exactness/draw_exact_lattice.py"
    broken.write_text("raise SystemExit('made to fail')\n")
    before = len(slurm.jobs())
    sending = [*PROFILE, "--retries", "0", "--", STATE, LAW]
    done = there.run(*sending, **with_plugin)
    console = done.stdout + done.stderr
    assert done.returncode == 1, console
    assert "Error in rule draw_exact_lattice" in console
    (log,) = there.folder.glob(".snakemake/slurm_logs/rule_draw_exact_lattice/**/*.log")
    assert str(log) in console
    assert "made to fail" in log.read_text()
    assert not (there.folder / LAW).exists()

    # the counts were read here, and the jobs asked for what the profile and the rule say
    jobs = slurm.jobs()[before:]
    asked = {job["JobState"]: (job["TRES"], job["TimeLimit"]) for job in jobs}
    assert len(jobs) == 2
    assert asked == {
        "COMPLETED": ("cpu=1,mem=1000M,node=1,billing=1", "00:30:00"),
        "FAILED": ("cpu=1,mem=2500M,node=1,billing=1", "00:30:00"),
    }
    done = here.run("--cores", "2", "--", STATE)
    assert done.returncode == 0, done.stdout + done.stderr
    with h5py.File(there.folder / STATE) as sent, h5py.File(here.folder / STATE) as own:
        assert np.array_equal(sent["noise"][()], own["noise"][()])
