"""Compare all mechanisms at equal privacy."""

from functools import partial

from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.subspace.tables import equal_privacy_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    streams = partial(stream, params.seed, "subspace")
    tables = equal_privacy_tables(streams, params.epsilon, params.delta, params.equal_privacy)
    write_tables(tables, snakemake.output)
