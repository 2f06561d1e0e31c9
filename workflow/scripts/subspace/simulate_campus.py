"""Simulate the WiFi example."""

from functools import partial

from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.subspace.tables import campus_tables

with job_log(snakemake.log[0]):
    streams = partial(stream, snakemake.params.seed, "campus")
    write_tables(campus_tables(streams, snakemake.params.campus), snakemake.output)
