"""A wrong config is refused with one line before any job runs."""

import re

import yaml


def test_the_command_says_it_in_one_line_and_runs_no_job(checkout):
    checkout.write_config({"counties": {"norm": "l3"}})
    done = checkout.run("--cores", "1")
    assert done.returncode != 0
    told = [line for line in (done.stdout + done.stderr).splitlines() if "l3" in line]
    assert len(told) == 1
    assert told[0].startswith("error: config: counties.norm: ")
    assert "Traceback" not in done.stderr
    assert not (checkout.folder / "results" / "logs").exists()


def test_a_value_from_a_paper_reruns_what_depends_on_it_alone(finished, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(yaml.safe_dump({"from_the_papers": {"counties": {"burn_in": 123}}}))
    done = finished.run(str(mine), "--dry-run", "--cores", "1")
    console = done.stdout + done.stderr
    assert done.returncode == 0, console
    jobs = set(re.findall(r"^(\w+) +\d+$", console, re.MULTILINE))
    assert {"sample_counties", "describe_counties", "record_config"} <= jobs
    others = ("couple", "draw_exact", "sample_lattice", "sample_sex", "derive_", "run_topdown")
    assert not [job for job in jobs if job.startswith(others)]
