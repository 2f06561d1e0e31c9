"""Combine the tables of all states, and compute the truncation of county counts at zero."""

from reproduction.counties.truncation import tabulate_figure, tabulate_truncation
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv, read_csvs, write_tables

with job_log(snakemake.log[0]):
    files, epsilon = snakemake.input, snakemake.params.epsilon
    counties, rhat, states = read_csv(files.counties), read_csvs(files.rhat), read_csvs(files.state)
    tables = {
        "rhat": rhat,
        "noise": read_csvs(files.noise),
        "states": states,
        "projection": read_csvs(files.projection),
        "truncation": tabulate_truncation(counties, epsilon, states),
        "convergence": rhat,
        "curves": tabulate_figure(counties, snakemake.params.epsilons),
    }
    write_tables(tables, snakemake.output)
