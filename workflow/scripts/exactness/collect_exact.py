"""Tabulate the distances of all samplers from exact draws, and of all chains by iteration."""

from isdp.io.files import write_csv
from reproduction.exactness.experiment import tabulate_agreement, tabulate_distances
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs

with job_log(snakemake.log[0]):
    files, output = snakemake.input, snakemake.output
    write_csv(tabulate_agreement(read_csvs(files.agreement)), output.agreement)
    write_csv(tabulate_distances(read_csvs(files.distances)), output.distances)
