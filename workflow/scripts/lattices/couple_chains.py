"""Couple chains of each variant, and bound their distance to the target distribution."""

from isdp.streams import stream
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.lattices.convergence import couple_variants
from reproduction.lattices.entry import build_experiment, build_walk

with job_log(snakemake.log[0]):
    params, names = snakemake.params, dict(snakemake.wildcards.items())
    experiment, law = build_experiment(params.entry), names["law"]
    walks = {
        variant: (
            stream(params.seed, f"coupling {names['experiment']}", f"{law} {variant}"),
            build_walk(experiment, params.law, params.variants, variant),
        )
        for variant in params.variants
    }
    write_tables(couple_variants(walks, params.coupling, names), snakemake.output)
