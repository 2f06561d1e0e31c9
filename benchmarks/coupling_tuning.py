"""Measure meeting times against the proposal parameter, for the lattice experiments of the config.

Prints the mean of tau - L over coupled runs at a long lag, for each experiment, law and variant,
and writes it to results/benchmarks/coupling_tuning.csv. config/config.yaml cites it.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from isdp.coupling import meeting_times
from isdp.experiment import build, mechanism_of
from isdp.files import write_csv
from isdp.lattice import kernel_lattice
from isdp.metropolis import LatticeWalk

PROPOSALS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93)
LAG = {"joint": 32768, "coordinate": 512}  # long enough for the leading chain to have moved


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, default="config/config.yaml")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--output", type=Path, default="results/benchmarks/coupling_tuning.csv")
    options = parser.parse_args()
    config = yaml.safe_load(options.config.read_text())
    rows = []
    for name, entry in config["lattices"].items():
        invariants = build(entry).invariants
        for law, settings in entry["laws"].items():
            for variant, kind in config["variants"].items():
                lattice = kernel_lattice(invariants, kind["basis"])
                row = {"experiment": name, "norm": law, "variant": variant}
                for a in PROPOSALS:
                    walk = LatticeWalk(lattice, mechanism_of(settings), a, kind["acceptance"])
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
    print(table.to_string(index=False, float_format="%.0f"))


if __name__ == "__main__":
    main()
