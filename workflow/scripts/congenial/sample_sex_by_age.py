"""Draw releases of sex by age by the lattice walk and by the independence sampler."""

from isdp.io.draws import Draws, write_draws
from isdp.seeds import stream
from reproduction.congenial.sex_by_age import independence_sampler, sample_tables
from reproduction.data.table_p12 import CELLS, sex_by_age_invariants
from reproduction.running.draws import labelled
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_tables

with job_log(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    counts = read_csv(snakemake.input.counts)["count"].to_numpy()
    independence = independence_sampler(
        counts, params.epsilon, params.proposal_epsilon, params.solved
    )
    log.info("cells solved from the equalities, from 0: %s", independence.solved)
    tables, noise = sample_tables(
        stream(params.seed, "sex by age", "samplers"),
        counts,
        independence,
        epsilon=params.epsilon,
        walk=params.walk,
        independence_run=params.independence,
        printed=params.printed,
    )
    write_tables(tables, output)
    draws = Draws(noise, sex_by_age_invariants(), CELLS, dict(params.walk))
    names = {"experiment": "sex_by_age", "law": "conditional", "sampler": "mcmc"}
    mechanism = {"epsilon": params.epsilon}
    write_draws(output.draws, labelled(draws, wing="congenial", **names, mechanism=mechanism))
