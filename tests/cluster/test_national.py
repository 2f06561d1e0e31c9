"""The national runs over three nodes, of which one dies: the tables are those of one machine."""

import csv
import subprocess
import time

import psutil
import pytest

from tests.cluster import node
from tests.cluster.conftest import PROFILE
from tests.workflow.conftest import PATIENCE, Checkout

TABLES = ("errors", "states", "levels")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A run on this machine alone."""
    checkout = Checkout(tmp_path_factory.mktemp("here"))
    done = checkout.run("--cores", "2", "national")
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout


@pytest.fixture
def there(tmp_path):
    return Checkout(tmp_path)


def table(checkout, name):
    return checkout.folder / f"results/tables/national_{name}.csv"


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def at_work(pid):
    """Whether a job's own script is running within a node."""
    for each in node.living(pid):
        try:
            if any("/.snakemake/scripts/" in word for word in each.cmdline()):
                return True
        except psutil.NoSuchProcess:
            continue
    return False


def lose_a_busy_node(slurm, running):
    """Wait until some node has a job half done, and let that node die."""
    until = time.monotonic() + PATIENCE
    while running.poll() is None and time.monotonic() < until:
        for name in slurm.nodes():
            if at_work(slurm.daemons[name].pid):
                slurm.lose(name)
                return name
        time.sleep(0.1)
    pytest.fail("no job was seen at work")


def test_one_machine_does_every_job_and_knows_when_it_is_done(here):
    jobs = {row["kind"]: int(row["jobs"]) for row in rows(table(here, "jobs"))}
    assert jobs == {
        "run_releases_noise": 2,
        "run_releases_conditioned": 1,
        "run_releases_topdown": 1,
        "run_releases_swapping": 1,
        "run_releases_nested": 1,
        "draw_block_noise": 1,
        "release_states": 1,
        "descend_states": 2,
        "collect_national": 1,
    }
    assert {row["states"] for row in rows(table(here, "errors")) if row["size"] == "all"} == {"3"}
    assert {row["state"] for row in rows(table(here, "states"))} == {"DE", "RI", "VT"}
    assert [row["level"] for row in rows(table(here, "levels"))][::5] == ["nation", "block"]
    assert {row["jobs"] for row in rows(table(here, "cost"))} == {"11", "1100"}
    again = here.run("--cores", "1", "national")
    assert "Nothing to be done" in again.stdout + again.stderr


def test_a_node_dies_and_the_tables_are_those_of_one_machine(here, there, slurm, with_plugin):
    console = there.folder / "console.txt"
    with open(console, "w") as file:
        sent = subprocess.Popen(
            there.command(*PROFILE, "--", "national"),
            cwd=there.folder,
            env=there.environment(**with_plugin),
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        lost = lose_a_busy_node(slurm, sent)
        assert sent.wait(timeout=PATIENCE) == 0, console.read_text()
    finally:
        node.kill_descendants(sent.pid)
        sent.kill()
        sent.wait()
    jobs = slurm.jobs()
    again = [job for job in jobs if int(job["Restarts"])]
    assert again
    assert lost not in {job["NodeList"] for job in again}
    assert len({job["NodeList"] for job in jobs} - {lost}) == 2
    for name in TABLES:
        assert table(there, name).read_bytes() == table(here, name).read_bytes()
