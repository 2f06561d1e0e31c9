"""Put the tables of all national runs together."""

from reproduction.running.jobs import job_log
from reproduction.national.blocks import level_table
from reproduction.national.releases import nation_table, state_table
from reproduction.running.tables import read_csvs, write_table

with job_log(snakemake.log[0]):
    given, output, titles = snakemake.input, snakemake.output, snakemake.params.titles
    errors = read_csvs(given.errors)
    tables = {
        "errors": nation_table(errors),
        "states": state_table(errors),
        "levels": level_table(read_csvs(given.levels)),
    }
    for name, table in tables.items():
        write_table(table, output[f"{name}_csv"], titles[name])
