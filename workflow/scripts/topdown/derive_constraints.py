"""Derive implied constraints and check statements, or release group quarters with workarounds."""

from isdp.streams import stream
from reproduction.data.histogram import read_group_quarters, read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.topdown.implied_constraints import derive_constraints
from reproduction.topdown.theory.statements import tabulate_statements

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    published = read_published(given.published)
    every = read_group_quarters(given.group_quarters, published)
    tables = derive_constraints(params.tables, params.seed, *every, params.implied)
    if params.tables == "implied":
        histogram = read_histogram(given.histogram, published)
        rng = stream(params.seed, "topdown", "statements")
        tables["statements"] = tabulate_statements(rng, histogram)
    write_tables(tables, snakemake.output)
