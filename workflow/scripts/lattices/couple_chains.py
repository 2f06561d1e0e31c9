"""Couple chains of each variant, and bound their distance to the target."""

from isdp.seeds import stream
from reproduction.lattices.convergence import couple_variants
from reproduction.lattices.entry import build_experiment, build_walk
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables

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
