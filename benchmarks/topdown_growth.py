"""Time and memory of TopDown by number of regions, six levels down to synthetic blocks.

Writes topdown_growth.csv, a row a size, and topdown_nation.csv, what follows from its largest row
for the nation's 11 million blocks. Each size runs in a process of its own, whose peak memory is
read.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.national.sparse_descent import run_sparse
from reproduction.national.synthetic_blocks import allocate_blocks, draw_state
from reproduction.national.topdown_to_blocks import check_sums
from reproduction.topdown.configurations import six_level_plan

ROOT = Path(__file__).parent.parent
STATE, ALL_BLOCKS = "TX", 900_000  # the state with the most blocks, and how many it has here
SIZES = (9_000, 30_000, 90_000, 300_000, ALL_BLOCKS)
NATION = 11_000_000
SEED = 20210608


def some_counties(histogram, blocks):
    """Take counties in a random order until they have that many of the state's blocks."""
    here = np.flatnonzero(histogram.counties["state"] == STATE)
    numbers = allocate_blocks(histogram.counts[here].sum(axis=1), ALL_BLOCKS)
    order = stream(SEED, "order of counties").permutation(len(here))
    if blocks >= ALL_BLOCKS:
        chosen = np.arange(len(here))
    else:
        sums = np.cumsum(numbers[order])
        chosen = np.sort(order[: np.searchsorted(sums, blocks) + 1])
    rows = here[chosen]
    names = histogram.counties["fips"].to_numpy()[rows].tolist()
    return (names, histogram.counts[rows]), numbers[chosen]


def measure(blocks):
    """Run one size; give a row of the table."""
    published = read_published(ROOT / "data/census2010_county_population.csv")
    histogram = read_histogram(ROOT / "data/census2010_race_hispanic_adult_county.csv", published)
    counties, numbers = some_counties(histogram, blocks)
    began = time.process_time()
    table, hierarchy = draw_state(SEED, STATE, counties, numbers)
    made = time.process_time()
    released = run_sparse(stream(SEED, "growth"), table, hierarchy, six_level_plan())
    done = time.process_time()
    check_sums(released, table, hierarchy)
    units = [len(each) for each in hierarchy.units]
    kept = table.nnz / np.prod(table.shape)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "counties": units[2],
        "tracts": units[3],
        "block_groups": units[4],
        "blocks": units[5],
        "regions": sum(units),
        "people": int(table.sum()),
        "cells_not_zero": round(float(kept), 5),
        "released_not_zero": int(released["block"].nnz),
        "seconds_to_make": round(made - began, 1),
        "seconds": round(done - made, 1),
        "ms_a_region": round(1000 * (done - made) / sum(units), 3),
        "mib": round(peak / 1024 / (1024 if sys.platform == "darwin" else 1)),
    }


def nation_table(growth):
    """What the nation would take, from the time a region of the largest size measured."""
    last = growth.iloc[-1]
    hours = last["ms_a_region"] / 1000 * last["regions"] / last["blocks"] * NATION / 3600
    state = last["seconds"] / last["blocks"] * ALL_BLOCKS / 3600
    rows = [
        ("one core", hours, last["mib"]),
        ("two cores, a state at a time on each", max(hours / 2, state), 2 * last["mib"]),
        ("a cluster, a core a state: the largest state", state, last["mib"]),
    ]
    columns = ["machine", "hours", "mib"]
    return pd.DataFrame(rows, columns=columns).assign(blocks=NATION, measured_blocks=last["blocks"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=ALL_BLOCKS, help="blocks of the largest size")
    parser.add_argument("--one", type=int, help="run one size here and print its row")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "benchmarks")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    rows = []
    for blocks in (size for size in SIZES if size <= options.most):
        command = [sys.executable, "-m", "benchmarks.topdown_growth", "--one", str(blocks)]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(done.stdout))
        print(rows[-1], flush=True)
    growth = pd.DataFrame(rows)
    write_csv(growth, options.output / "topdown_growth.csv")
    nation = nation_table(growth)
    write_csv(nation, options.output / "topdown_nation.csv")
    print(nation.to_string(index=False, float_format="%.3g"))


if __name__ == "__main__":
    main()
