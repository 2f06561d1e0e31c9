"""Compute the run time of the national runs on other machines from measured jobs."""

import heapq
import re
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import product
from pathlib import Path

import pandas as pd


def read_jobs(paths: Sequence) -> pd.DataFrame:
    """Read the benchmark files of Snakemake, with one row per job.

    The columns are job, kind, seconds and mib (memory in MiB). The memory is missing if the job
    ended before Snakemake measured it.
    """
    rows = []
    for path in map(Path, paths):
        last = pd.read_csv(path, sep="\t").iloc[-1]
        measured = pd.to_numeric(last[["s", "max_rss"]], errors="coerce")
        rows.append((path.stem, re.sub(r"_\d+$", "", path.stem), *measured))
    return pd.DataFrame(rows, columns=["job", "kind", "seconds", "mib"])


def tabulate_costs(parts: Mapping[str, Sequence], settings: Mapping) -> dict[str, pd.DataFrame]:
    """Sum the measured jobs by kind, and compute their run time on other machines.

    `parts` maps "releases", "states", "descents" and "collected" to lists of benchmark files. The
    descents start after the states. The collected jobs start after all others, and run on the
    machine of Snakemake.
    """
    names = {kind: [Path(path).stem for path in paths] for kind, paths in parts.items()}
    sent = [*names["releases"], *names["states"], *names["descents"]]
    after = dict.fromkeys(names["descents"], names["states"])
    after |= dict.fromkeys(names["collected"], sent)
    jobs = read_jobs([path for paths in parts.values() for path in paths])
    by_kind = jobs.groupby("kind", sort=False, as_index=False).agg(
        jobs=("seconds", "size"),
        seconds=("seconds", "sum"),
        longest=("seconds", "max"),
        mib=("mib", "max"),
    )
    return {"jobs": by_kind, "cost": tabulate_machines(jobs, after, sent, settings)}


def finish_time(
    seconds: Mapping[str, float], after: Mapping[str, Sequence[str]], workers: int
) -> float:
    """Compute the finish time of all jobs on a number of workers.

    Each worker runs one job at a time. A free worker takes the longest job that can start. `after`
    lists the predecessors of each job. Raises `graphlib.CycleError` if they form a cycle.
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
    """Compute the run time of one or more copies of the measured jobs on each machine.

    If a machine has several nodes, the jobs `sent` run on them, and the other jobs run on the
    machine of Snakemake.
    """
    added, rows = settings["added"], []
    for times, (nodes, cores) in product(settings["times"], settings["machines"]):
        place = "local" if nodes == 1 else "sent"
        times_of, before = {}, {}
        measured = jobs[["job", "seconds"]].itertuples(index=False)
        for (job, seconds), copy in product(measured, range(times)):
            times_of[f"{job} {copy}"] = seconds + added[place if job in sent else "local"]
            before[f"{job} {copy}"] = [f"{each} {copy}" for each in after.get(job, ())]
        work, count = times * jobs["seconds"].sum(), len(times_of)
        ends = (finish_time(times_of, before, workers) for workers in (nodes * cores, count))
        rows.append((times, nodes, cores, count, work, added[place], *ends))
    columns = ["times", "nodes", "cores", "jobs", "work", "added", "seconds", "chain"]
    return pd.DataFrame(rows, columns=columns)
