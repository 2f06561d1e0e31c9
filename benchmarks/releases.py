"""Releases of large tables, and the command on many rows, against the limits set for them."""

import json
import math
import subprocess
import sys
import tempfile
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.timing import row, seconds
from isdp import SYSTEM_RANDOMNESS, GeneralizedGaussian, GeneralizedLaplace, Invariants, draw_noise
from isdp.mechanisms import CrossingGaussian, NestedGaussian, NestedLaplace, SetTree

CELLS = 10**6
GAUSSIAN_LIMIT, TYPES_LIMIT = 1, 20  # CPU seconds
COUNTIES, STATES, GROUPS, CELLS_OF_GROUP = 3221, 52, 4, 63
CROSSING_LIMIT, EXPERIMENT_LIMIT = 30, 2  # CPU seconds
NESTED_LIMIT, NESTED_EXPERIMENT_LIMIT = 5, 0.3  # CPU seconds, for all counties
SIX_LEVELS_LIMIT, SIX_LEVELS_EXPERIMENT_LIMIT = 60, 2  # CPU seconds
BLOCKS, CELLS_OF_BLOCK = 900_000, 8
BLOCKS_OF = {"state": 18_000, "county": 300, "tract": 15, "group": 5, "block": 1}
ROWS, TOTALS = 10**7, 50
ROWS_LIMIT, ROWS_MEMORY = 40, 1.2  # CPU seconds, GB
EPSILON, RHO, RHO_OF_COUNTIES = "1/4", "1/32", Fraction("1.24")
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


def nested_counties(kind):
    """Noise with terms of counties and cells at rho = 1.24 or epsilon = 2, and state totals."""
    state = np.arange(COUNTIES) * STATES // COUNTIES
    cells = GROUPS * CELLS_OF_GROUP
    columns = {"state": np.repeat(state, cells), "county": np.repeat(np.arange(COUNTIES), cells)}
    scales = {"county": "0.1", "cell": "0.9"}
    if kind is NestedGaussian:
        scales = {level: 1 / (RHO_OF_COUNTIES * Fraction(x)) for level, x in scales.items()}
    return kind(SetTree.from_columns(columns), scales), Invariants.partition(columns["state"])


def six_levels(cells):
    """Gaussian noise with terms of states down to the cells of blocks, and the nation's total."""
    block = np.arange(cells) // CELLS_OF_BLOCK
    tree = SetTree.from_columns({level: block // n for level, n in BLOCKS_OF.items()})
    variances = {"state": 20, "county": 20, "tract": 10, "group": 8, "block": 6, "cell": 3}
    return NestedGaussian(tree, variances), Invariants.total(cells)


def set_energy_rows():
    """Seconds of a whole call for nested and crossing noise, for release and for experiments."""
    counties = f"{COUNTIES:,} counties x {GROUPS * CELLS_OF_GROUP} cells"
    families = {
        f"nested Gaussian, {counties}": (
            nested_counties(NestedGaussian),
            (NESTED_LIMIT, NESTED_EXPERIMENT_LIMIT),
        ),
        f"nested Laplace, {counties}": (
            nested_counties(NestedLaplace),
            (NESTED_LIMIT, NESTED_EXPERIMENT_LIMIT),
        ),
        f"crossing Gaussian, {counties}": (crossing_family(), (CROSSING_LIMIT, EXPERIMENT_LIMIT)),
        f"nested Gaussian, six levels, {BLOCKS:,} blocks x {CELLS_OF_BLOCK} cells": (
            six_levels(BLOCKS * CELLS_OF_BLOCK),
            (SIX_LEVELS_LIMIT, SIX_LEVELS_EXPERIMENT_LIMIT),
        ),
    }
    return [
        row(name, setting, seconds(partial(draw_noise, *family, rng=rng)), limit, "s", bar=1)
        for setting, (family, limits) in families.items()
        for name, rng, limit in zip(
            ("release / limit", "experiment / limit"),
            (SYSTEM_RANDOMNESS, np.random.default_rng(1)),
            limits,
            strict=True,
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
        *set_energy_rows(),
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
