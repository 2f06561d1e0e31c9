"""Releases of large tables, and the command on many rows, against the limits set for them."""

import json
import math
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.timing import row, seconds
from isdp import SYSTEM_RANDOMNESS, GeneralizedGaussian, GeneralizedLaplace, Invariants, draw_noise
from isdp.mechanisms import CrossingGaussian, SetTree

CELLS = 10**6
GAUSSIAN_LIMIT, TYPES_LIMIT = 1, 20  # CPU seconds
COUNTIES, STATES, GROUPS, CELLS_OF_GROUP = 3221, 52, 4, 63
CROSSING_LIMIT, EXPERIMENT_LIMIT = 30, 2  # CPU seconds
ROWS, TOTALS = 10**7, 50
ROWS_LIMIT, ROWS_MEMORY = 40, 1.2  # CPU seconds, GB
EPSILON, RHO = "1/4", "1/32"
# A small process starts the command, as the peak of a process counts that of the one it comes from.
MEASURE = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def states_by_classes(cells, states=51, classes=2):
    """Totals of states, and of classes across all of them."""
    cell = np.arange(cells)
    state, kind = cell * states // cells, cell % classes
    sets = [np.flatnonzero(state == s) for s in range(states)]
    sets += [np.flatnonzero(kind == c) for c in range(classes)]
    return Invariants.subsets(sets, cells)


def crossing_family(counties=COUNTIES, states=STATES):
    """Noise with terms of nation, states and counties at rho = 1.24, and the totals of states."""
    state = np.arange(counties) * states // counties
    cell = np.arange(GROUPS * CELLS_OF_GROUP)
    regions = SetTree.from_columns({"state": state}, root="nation")
    groups = SetTree.from_columns({"group": cell // CELLS_OF_GROUP}, root="total")
    shares = {
        ("nation", "cell"): 0.05,
        ("nation", "group"): 0.02,
        ("state", "cell"): 0.15,
        ("state", "group"): 0.03,
        ("cell", "total"): 0.17,
        ("cell", "group"): 0.03,
        ("cell", "cell"): 0.55,
    }
    variances = {pair: 1 / (1.24 * share) for pair, share in shares.items()}
    held = Invariants.partition(np.repeat(state, len(cell)))
    return CrossingGaussian(regions, groups, variances), held


def crossing_rows():
    """Seconds of a whole call for crossing noise, for release and for experiments."""
    family, held = crossing_family()
    setting = f"crossing Gaussian, {COUNTIES:,} counties x {held.cells // COUNTIES} cells"
    return [
        row(name, setting, seconds(partial(draw_noise, family, held, rng=rng)), limit, "s", bar=1)
        for name, rng, limit in (
            ("release / limit", SYSTEM_RANDOMNESS, CROSSING_LIMIT),
            ("experiment / limit", np.random.default_rng(1), EXPERIMENT_LIMIT),
        )
    ]


def releases_against_limits():
    """Seconds of `release` and of `isdp privatize`, and the memory of the latter."""
    parts = Invariants.partition(np.arange(CELLS) * TOTALS // CELLS)
    works = {
        f"Gaussian, {CELLS:,} cells, {TOTALS} totals": (
            partial(draw_noise, GeneralizedGaussian(rho=RHO), parts, rng=SYSTEM_RANDOMNESS),
            GAUSSIAN_LIMIT,
        ),
        f"l1, {CELLS:,} cells, 51 states x 2 classes": (
            partial(
                draw_noise,
                GeneralizedLaplace(EPSILON),
                states_by_classes(CELLS),
                rng=SYSTEM_RANDOMNESS,
            ),
            TYPES_LIMIT,
        ),
    }
    rows = [
        row("release / limit", name, seconds(work), limit, "s", bar=1)
        for name, (work, limit) in works.items()
    ]
    took, memory = privatize_rows()
    setting = f"l1, {ROWS:,} rows, {TOTALS} totals"
    return [
        *rows,
        *crossing_rows(),
        row("isdp privatize, time / limit", setting, took, ROWS_LIMIT, "s", bar=1),
        row("isdp privatize, memory / limit", setting, memory, ROWS_MEMORY, "GB", bar=1),
    ]


def privatize_rows():
    """CPU seconds and GB at most of the command on a table of many rows."""
    with tempfile.TemporaryDirectory() as folder:
        table, held = Path(folder) / "table.csv", Path(folder) / "held.yaml"
        cell = np.arange(ROWS)
        columns = {"state": cell * TOTALS // ROWS, "cell": cell, "count": cell % 97}
        pd.DataFrame(columns).to_csv(table, index=False)
        held.write_text("totals: [state]\n")
        arguments = [table, "--invariants", held, "--epsilon", EPSILON, "--out", f"{folder}/out"]
        command = [sys.executable, "-m", "isdp", "privatize", *map(str, arguments)]
        measured = [sys.executable, "-c", MEASURE, *command]
        found = subprocess.run(measured, stdout=subprocess.PIPE, check=True).stdout
        code, took, peak = json.loads(found)
        if code:
            return math.nan, math.nan
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return took, peak * unit / 1e9
