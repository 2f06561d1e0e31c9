"""The shared run of the workflow's tests, and its jobs."""

import pytest

from tests.reproduction.replay import Job, Replay
from tests.workflow.conftest import finished

__all__ = ["finished"]


@pytest.fixture(scope="session")
def jobs(finished):
    """All jobs of the run."""
    return [Job(path) for path in sorted(finished.records.iterdir())]


@pytest.fixture(scope="session")
def replay(finished, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield Replay(finished.folder, tmp_path_factory.mktemp("replay") / "run", patch)
