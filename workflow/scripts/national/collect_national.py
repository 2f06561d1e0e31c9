"""Combine the tables of all national runs."""

from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables
from reproduction.national.release_errors import pool_states, select_state_errors
from reproduction.national.topdown_to_blocks import tabulate_levels

with job_log(snakemake.log[0]):
    given = snakemake.input
    errors = read_csvs(given.errors)
    tables = {
        "errors": pool_states(errors),
        "states": select_state_errors(errors),
        "levels": tabulate_levels(read_csvs([given.states, *given.blocks])),
    }
    write_tables(tables, snakemake.output)
