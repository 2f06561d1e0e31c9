"""Put the tables of all national runs together."""

from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables
from reproduction.national.blocks import level_table
from reproduction.national.releases import nation_table, state_table

with job_log(snakemake.log[0]):
    given = snakemake.input
    errors = read_csvs(given.errors)
    tables = {
        "errors": nation_table(errors),
        "states": state_table(errors),
        "levels": level_table(read_csvs([given.states, *given.blocks])),
    }
    write_tables(tables, snakemake.output)
