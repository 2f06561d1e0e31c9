"""Measure meeting times against the proposal parameter, for the lattice experiments of the config.

Prints the mean of tau - L over coupled runs at a long lag, for each experiment, law and variant,
what a coupled sweep costs in single ones (at the config's proposal), and writes it to
results/benchmarks/coupling_tuning.csv. config/config.yaml cites it.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from numba import njit

from isdp.io.files import write_csv
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.compiled_chains import coupled_sweeps
from isdp.mcmc.coupling import _scratch, meeting_times
from isdp.mcmc.metropolis import LatticeWalk
from reproduction.lattices.entry import build_experiment, build_mechanism

PROPOSALS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93)
LAG = {"joint": 32768, "coordinate": 512}  # long enough for the leading chain to have moved


@njit
def sweep_neighbours(rng, pool, sweeps, kernel, scratch):
    """Run coupled sweeps from neighbouring states of the pool; return how many were run."""
    sizes = np.zeros(2, dtype=np.int64)
    run = 0
    for i in range(len(pool) - 1):
        first, second = pool[i].copy(), pool[i + 1].copy()
        apart = np.full(len(kernel.jumps.indptr) - 1, 3, dtype=np.int64)  # what a distance costs
        sizes[0] = (np.abs(first) ** kernel.power).sum()
        sizes[1] = (np.abs(second) ** kernel.power).sum()
        met = coupled_sweeps(rng, first, second, apart, sizes, kernel, scratch, sweeps)
        run += met if met > 0 else sweeps
    return run


def coupled_by_single(walk, states=3_000, sweeps=20):
    """Time of a coupled sweep of chains that are apart, in sweeps of a single chain."""
    rng = np.random.default_rng(1)
    walk.run(rng, walk.init(), draws=1)
    _, state, _ = walk.run(rng, walk.init(), draws=1, thin=20_000)
    began = time.perf_counter()
    pool, _, _ = walk.run(rng, state, draws=states, thin=sweeps)
    single = (time.perf_counter() - began) / (states * sweeps)
    arguments = walk.kernel, _scratch(walk)
    sweep_neighbours(rng, pool[:2], 1, *arguments)
    began = time.perf_counter()
    run = sweep_neighbours(rng, pool, sweeps, *arguments)
    return (time.perf_counter() - began) / run / single


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, default="config/config.yaml")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--output", type=Path, default="results/benchmarks/coupling_tuning.csv")
    options = parser.parse_args()
    config = yaml.safe_load(options.config.read_text())
    rows = []
    for name, entry in config["lattices"]["experiments"].items():
        invariants = build_experiment(entry).invariants
        for law, settings in entry["laws"].items():
            for variant, kind in config["lattices"]["variants"].items():
                lattice = kernel_lattice(invariants, kind["basis"])
                row = {"experiment": name, "law": law, "variant": variant}
                tuned = settings["proposal"][variant]
                row["coupled_by_single"] = coupled_by_single(
                    LatticeWalk(lattice, build_mechanism(settings), tuned, kind["acceptance"])
                )
                for a in PROPOSALS:
                    walk = LatticeWalk(lattice, build_mechanism(settings), a, kind["acceptance"])
                    times = meeting_times(
                        np.random.default_rng(1),
                        walk,
                        lag=LAG[kind["acceptance"]],
                        runs=options.runs,
                    )
                    row[f"a = {a}"] = (times.tau - times.lag).mean()
                rows.append(row)
    table = pd.DataFrame(rows)
    write_csv(table, options.output)
    print(table.to_string(index=False, float_format="%.3g"))


if __name__ == "__main__":
    main()
