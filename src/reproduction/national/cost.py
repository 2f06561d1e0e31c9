"""What the national runs take on other machines: measured jobs, scheduled on paper."""

import heapq
import re
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import product
from pathlib import Path

import pandas as pd


def read_jobs(paths: Sequence) -> pd.DataFrame:
    """Read Snakemake's benchmark files, one per job: job, kind, seconds and mib.

    The memory is missing where the job ended before Snakemake looked.
    """
    rows = []
    for path in map(Path, paths):
        last = pd.read_csv(path, sep="\t").iloc[-1]
        measured = pd.to_numeric(last[["s", "max_rss"]], errors="coerce")
        rows.append((path.stem, re.sub(r"_\d+$", "", path.stem), *measured))
    return pd.DataFrame(rows, columns=["job", "kind", "seconds", "mib"])


def tabulate_jobs(jobs: pd.DataFrame) -> pd.DataFrame:
    """Add the measured jobs up by kind; the table national_jobs."""
    return jobs.groupby("kind", sort=False, as_index=False).agg(
        jobs=("seconds", "size"),
        seconds=("seconds", "sum"),
        longest=("seconds", "max"),
        mib=("mib", "max"),
    )


def tabulate_costs(parts: Mapping[str, Sequence], settings: Mapping) -> dict[str, pd.DataFrame]:
    """Add up the measured jobs, and compute how long they take on other machines.

    `parts` are benchmark files under "releases", "states", "descents" and "collected". The descents
    wait for the states, and the collection waits for all others and stays where Snakemake runs.
    """
    names = {kind: [Path(path).stem for path in paths] for kind, paths in parts.items()}
    sent = [*names["releases"], *names["states"], *names["descents"]]
    after = dict.fromkeys(names["descents"], names["states"])
    after |= dict.fromkeys(names["collected"], sent)
    jobs = read_jobs([path for paths in parts.values() for path in paths])
    return {"jobs": tabulate_jobs(jobs), "cost": tabulate_machines(jobs, after, sent, settings)}


def finish_time(
    seconds: Mapping[str, float], after: Mapping[str, Sequence[str]], workers: int
) -> float:
    """Tell when all jobs are done, where a free worker takes the longest job that may begin.

    Each worker does one job at a time. `after` gives the jobs that must be done before a job.
    Jobs that wait for each other raise `graphlib.CycleError`.
    """
    order = TopologicalSorter({job: after.get(job, ()) for job in seconds})
    order.prepare()
    ready: list[tuple[float, str]] = []
    running: list[tuple[float, str]] = []
    now = 0.0
    while order.is_active():
        for job in order.get_ready():
            heapq.heappush(ready, (-seconds[job], job))
        while ready and len(running) < workers:
            _, job = heapq.heappop(ready)
            heapq.heappush(running, (now + seconds[job], job))
        now, done = heapq.heappop(running)
        order.done(done)
    return now


def tabulate_machines(
    jobs: pd.DataFrame, after: Mapping[str, Sequence[str]], sent: Sequence[str], settings: Mapping
) -> pd.DataFrame:
    """Compute how long the measured jobs, or several times as many, take on each machine.

    The jobs `sent` go to nodes where there are several; the others stay where Snakemake runs.
    """
    added, rows = settings["added"], []
    for times, (nodes, cores) in product(settings["times"], settings["machines"]):
        kind = "local" if nodes == 1 else "sent"
        took, before = {}, {}
        measured = jobs[["job", "seconds"]].itertuples(index=False)
        for (job, seconds), copy in product(measured, range(times)):
            took[f"{job} {copy}"] = seconds + added[kind if job in sent else "local"]
            before[f"{job} {copy}"] = [f"{each} {copy}" for each in after.get(job, ())]
        work = times * jobs["seconds"].sum()
        ends = finish_time(took, before, nodes * cores), finish_time(took, before, len(took))
        rows.append((times, nodes, cores, len(took), work, added[kind], *ends))
    columns = ["times", "nodes", "cores", "jobs", "work", "added", "seconds", "chain"]
    return pd.DataFrame(rows, columns=columns)
