"""Table the distances of all samplers from exact draws, and of the chains over iterations."""

from isdp.io.files import write_csv
from reproduction.exactness.experiment import agreement_table, distance_table
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs

with job_log(snakemake.log[0]):
    files, output = snakemake.input, snakemake.output
    write_csv(agreement_table(read_csvs(files.agreement)), output.agreement)
    write_csv(distance_table(read_csvs(files.distances)), output.distances)
