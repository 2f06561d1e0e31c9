"""Follow the actual distance of each variant's chain from its target, under every law."""

import pandas as pd

from isdp.io.draws import read_draws
from isdp.io.files import write_csv
from isdp.lattice.kernel import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk
from isdp.seeds import stream
from reproduction.exactness.experiment import follow_lattice
from reproduction.lattices.entry import build, mechanism_of
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, files, name = snakemake.params, snakemake.input, snakemake.wildcards.experiment
    invariants = build(params.entry).invariants
    lattices = {
        variant: kernel_lattice(invariants, settings["basis"])
        for variant, settings in params.variants.items()
    }
    parts = []
    for (law, entry), drawn, bounds, times in zip(
        params.laws.items(), files.exact, files.curves, files.meetings, strict=True
    ):
        exact, curves, meetings = read_draws(drawn), read_csv(bounds), read_csv(times)
        for variant, settings in params.variants.items():
            walk = LatticeWalk(
                lattices[variant],
                mechanism_of(entry),
                entry["proposal"][variant],
                settings["acceptance"],
            )
            chosen = meetings[(meetings["variant"] == variant) & meetings["chosen"]].iloc[0]
            at_lag = curves[(curves["variant"] == variant) & (curves["lag"] == chosen["lag"])]
            followed = follow_lattice(
                stream(params.seed, f"distance {name}", f"{law} {variant}"),
                walk,
                exact,
                at_lag,
                chains=params.exact["chains"],
                points=params.exact["points"],
                longest=params.exact["longest"],
            )
            names = {"experiment": name, "norm": law, "variant": variant}
            parts.append(followed.assign(**names, censored=chosen["censored"]))
    write_csv(pd.concat(parts), snakemake.output.distances)
