"""Follow the actual distance of each variant's chain from its target."""

import pandas as pd

from isdp.drawfile import read_draws
from isdp.experiment import build, mechanism_of
from isdp.files import read_csv, write_csv
from isdp.lattice import kernel_lattice
from isdp.logs import job_log
from isdp.metropolis import LatticeWalk
from isdp.perfect import follow_lattice
from isdp.seeds import stream

with job_log(snakemake.log[0]):
    params, wildcards = snakemake.params, snakemake.wildcards
    invariants, mechanism = build(params.entry).invariants, mechanism_of(params.law)
    exact = read_draws(snakemake.input.exact)
    curves, meetings = read_csv(snakemake.input.curves), read_csv(snakemake.input.meetings)
    parts = []
    for variant, settings in params.variants.items():
        walk = LatticeWalk(
            kernel_lattice(invariants, settings["basis"]),
            mechanism,
            params.law["proposal"][variant],
            settings["acceptance"],
        )
        chosen = meetings[(meetings["variant"] == variant) & meetings["chosen"]].iloc[0]
        at_lag = curves[(curves["variant"] == variant) & (curves["lag"] == chosen["lag"])]
        followed = follow_lattice(
            stream(params.seed, f"distance {wildcards.experiment}", f"{wildcards.law} {variant}"),
            walk,
            exact,
            at_lag,
            chains=params.exact["chains"],
            points=params.exact["points"],
            longest=params.exact["longest"],
        )
        names = {"experiment": wildcards.experiment, "norm": wildcards.law, "variant": variant}
        parts.append(followed.assign(**names, censored=chosen["censored"]))
    write_csv(pd.concat(parts), snakemake.output.distances)
