"""Trace chains of the independence sampler from the confidential table of sex by age."""

from isdp.seeds import stream
from reproduction.congenial.sex_by_age import trace_tables
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    counts = read_csv(snakemake.input.counts)["count"].to_numpy()
    rng = stream(params.seed, "sex by age", "trace")
    write_tables(trace_tables(rng, counts, params.settings), snakemake.output)
