"""Put all scenarios of a sweep in one table, and the values of their figure in another."""

from isdp.io.files import write_csv
from reproduction.counties.sweep import figure_table
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs

with job_log(snakemake.log[0]):
    table = read_csvs(snakemake.input.scenarios)
    write_csv(table, snakemake.output.table)
    write_csv(figure_table(table), snakemake.output.curves)
