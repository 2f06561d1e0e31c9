"""Trace chains of the independence sampler from the confidential table of sex by age."""

from isdp.seeds import stream
from reproduction.congenial.sex_by_age import independence_sampler, trace_tables
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    counts = read_csv(snakemake.input.counts)["count"].to_numpy()
    steps, trace, spread = trace_tables(
        stream(params.seed, "sex by age", "trace"),
        counts,
        independence_sampler(counts, params.epsilon, params.proposal_epsilon, params.solved),
        steps=params.trace["steps"],
        chains=params.trace["chains"],
        paper=params.trace["paper"] if params.of_paper else {},
    )
    write_tables({"steps": steps, "trace": trace, "spread": spread}, snakemake.output)
