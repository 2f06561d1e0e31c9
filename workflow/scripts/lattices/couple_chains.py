"""Couple chains of each variant, and bound their distance to the target."""

from isdp.streams import stream
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.lattices.convergence import coupling_tables
from reproduction.lattices.entry import build, walk_of

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
