"""Compute what the mechanisms guarantee."""

from functools import partial

from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.subspace.tables import guarantee_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    streams = partial(stream, params.seed, "subspace")
    tables = guarantee_tables(
        streams, params.workloads, params.epsilon, params.constant, params.losses
    )
    write_tables(tables, snakemake.output)
