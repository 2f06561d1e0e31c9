"""Measure the settings of the county experiment: basis, acceptance and proposal.

Prints effective draws per second for the county counts of Illinois (102) and Texas (254), best
first, and writes them to results/benchmarks/county_tuning.csv. config/config.yaml cites it.
"""

import argparse
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from isdp import GeneralizedLaplace, Invariants
from isdp.diagnostics.chains import convergence
from isdp.io.files import write_csv
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk, run_chains

EPSILON = 0.192
PROPOSALS = {"coordinate": (0.5, 0.7, 0.8, 0.87, 0.9, 0.95), "joint": (0.003, 0.01, 0.03, 0.1, 0.3)}
THIN = {"coordinate": 20, "joint": 400}


def neighbour_lattice(lattice):
    """The same lattice in differences of neighbours: a path instead of the star."""
    n = lattice.invariants.cells
    path = np.eye(n, n - 1, k=-1, dtype=np.int64) - np.eye(n, n - 1, dtype=np.int64)
    return type(lattice)(lattice.invariants, "path", type(lattice.columns)(path))


def measure(cells, lattice, acceptance, proposal, draws):
    walk = LatticeWalk(lattice, GeneralizedLaplace(EPSILON), proposal, acceptance)
    rng = np.random.default_rng(1)
    run_chains(rng, walk, n_draws=1, n_chains=1, burn_in=1)  # compiles
    thin = THIN[acceptance]
    began = time.perf_counter()
    noise, info = run_chains(rng, walk, n_draws=draws, burn_in=25 * thin, thin=thin)
    seconds = time.perf_counter() - began
    table = convergence(noise)
    return {
        "counties": cells,
        "basis": lattice.kind,
        "acceptance": acceptance,
        "proposal": proposal,
        "sweeps_between_draws": thin,
        "acceptance_rate": info.acceptance_rate,
        "rhat_max": table["rhat"].max(),
        "ess_min": table["ess_bulk"].min(),
        "updates_per_second": info.updates / seconds,
        "ess_min_per_second": table["ess_bulk"].min() / seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=500, help="kept draws a chain")
    parser.add_argument("--output", type=Path, default="results/benchmarks/county_tuning.csv")
    options = parser.parse_args()
    rows = []
    for cells in (102, 254):
        star, lll = (kernel_lattice(Invariants.total(cells), basis) for basis in ("smith", "lll"))
        for lattice, acceptance in product((star, lll, neighbour_lattice(star)), PROPOSALS):
            rows += [
                measure(cells, lattice, acceptance, proposal, options.draws)
                for proposal in PROPOSALS[acceptance]
            ]
    table = pd.DataFrame(rows).sort_values(
        ["counties", "ess_min_per_second"], ascending=[True, False]
    )
    write_csv(table, options.output)
    print(table.to_string(index=False, float_format="%.4g"))


if __name__ == "__main__":
    main()
