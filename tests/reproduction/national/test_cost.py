import pytest

from reproduction.national.cost import (
    finish_time,
    read_jobs,
    tabulate_costs,
    tabulate_machines,
)

SECONDS = {"a": 3.0, "b": 3.0, "c": 2.0, "d": 2.0, "e": 2.0}


def test_a_job_waits_for_those_before_it():
    after = {"c": ["a", "b"], "d": ["c"]}
    assert finish_time(SECONDS, after, 5) == 3 + 2 + 2
    assert finish_time({"x": 1.0, "y": 5.0}, {"y": ["x"]}, 2) == 6
    with pytest.raises(ValueError, match="cycle"):
        finish_time({"x": 1.0, "y": 1.0}, {"x": ["y"], "y": ["x"]}, 1)


def benchmark_file(folder, name, seconds, memory):
    path = folder / f"{name}.tsv"
    path.write_text(f"s\th:m:s\tmax_rss\n9\t0\t9\n{seconds}\t0:00:01\t{memory}\n")
    return path


@pytest.fixture
def jobs(tmp_path):
    rows = [
        ("run_releases_noise_0", 10, 100),
        ("run_releases_noise_1", 20, "-"),
        ("release_states", 5, 50),
        ("descend_states_0", 7, 90),
        ("collect_national", 1, 10),
    ]
    return read_jobs([benchmark_file(tmp_path, *row) for row in rows])


def test_machines_are_computed_from_them(jobs):
    sent = jobs["job"].tolist()[:4]
    after = {"descend_states_0": ["release_states"], "collect_national": sent}
    settings = {"machines": [[1, 1], [1, 2], [10, 2]], "added": {"local": 1, "sent": 10}}
    table = tabulate_machines(jobs, after, sent, settings | {"times": [1]})
    assert table["work"].tolist() == [43, 43, 43]
    assert table["added"].tolist() == [1, 1, 10]
    # one core all in turn; two: 11, 6, 8 beside 21, then 2; sent: 15 and 17 beside 30, then 2 here
    assert table["seconds"].tolist() == [48, 27, 34]
    assert table["chain"].tolist() == [23, 23, 34]
    thrice = tabulate_machines(jobs, after, sent, settings | {"times": [3]})
    assert thrice["jobs"].tolist() == [15, 15, 15]
    assert thrice["work"].tolist() == [129, 129, 129]
    # one core thrice as long; twenty are enough for all at once
    assert thrice["seconds"].iloc[0] == 3 * 48
    assert thrice["seconds"].iloc[2] == 34


def test_descents_wait_for_the_states_and_the_collection_for_all(tmp_path):
    parts = {
        "releases": [benchmark_file(tmp_path, "run_releases_noise_0", 10, 100)],
        "states": [benchmark_file(tmp_path, "release_states", 5, 50)],
        "descents": [benchmark_file(tmp_path, f"descend_states_{i}", 7, 90) for i in (0, 1)],
        "collected": [benchmark_file(tmp_path, "collect_national", 1, 10)],
    }
    machines = {"machines": [[1, 9]], "added": {"local": 1, "sent": 10}, "times": [1]}
    tables = tabulate_costs(parts, machines)
    assert tables["jobs"]["jobs"].tolist() == [1, 1, 2, 1]
    assert tables["cost"]["seconds"].tolist() == [6 + 8 + 2]
    sent = tabulate_costs(parts, machines | {"machines": [[2, 9]]})
    assert sent["cost"]["seconds"].tolist() == [15 + 17 + 2]  # the collection is not sent
