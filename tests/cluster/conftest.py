"""A Slurm for the tests of this folder, and how they send jobs to it."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cluster.slurm import CannotStart, running_slurm

PLUGIN = Path(sys.prefix) / "slurm"  # where `make` puts it
PROFILE = (
    *("--workflow-profile", "workflow/profiles/slurm"),
    # the tests' Slurm keeps no accounts, and there is nothing to spare in asking it
    *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "4"),
)


@pytest.fixture(scope="session")
def slurm():
    if not (PLUGIN.is_dir() or find_spec("snakemake_executor_plugin_slurm")):
        pytest.skip("no Snakemake plugin for Slurm: `make setup` installs it")
    try:
        with running_slurm() as started:
            yield started
    except CannotStart as reason:
        pytest.skip(str(reason))


@pytest.fixture
def with_plugin():
    """What Snakemake's environment needs to find the plugin."""
    return {"PYTHONPATH": os.pathsep.join([str(PLUGIN), os.getenv("PYTHONPATH", "")])}
