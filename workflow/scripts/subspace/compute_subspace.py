"""Compute the tables of one part of the study of subspace privacy."""

from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv, write_tables
from reproduction.subspace import tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    inputs = {name: read_csv(path) for name, path in snakemake.input.items()}
    found = getattr(tables, params.tables)(params.seed, **params.settings, **inputs)
    write_tables(found, snakemake.output)
