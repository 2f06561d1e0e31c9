"""Compute the errors of all mechanisms on all workloads."""

from functools import partial

from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.subspace.tables import error_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    streams = partial(stream, params.seed, "subspace")
    tables = error_tables(streams, params.workloads, params.epsilon, params.delta, params.draws)
    write_tables(tables, snakemake.output)
