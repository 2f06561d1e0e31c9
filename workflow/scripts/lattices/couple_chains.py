"""Couple chains of each variant, and bound their distance to the target."""

from isdp.seeds import stream
from reproduction.lattices.convergence import coupling_tables
from reproduction.lattices.entry import build, walk_of
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables

with job_log(snakemake.log[0]):
    params, names = snakemake.params, dict(snakemake.wildcards.items())
    experiment, law = build(params.entry), names["law"]
    walks = {
        variant: (
            stream(params.seed, f"coupling {names['experiment']}", f"{law} {variant}"),
            walk_of(experiment, params.law, params.variants, variant),
        )
        for variant in params.variants
    }
    write_tables(coupling_tables(walks, params.coupling, names), snakemake.output)
