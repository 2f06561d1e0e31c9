"""Put all samplers' distances from exact draws, and the chains' over iterations, into tables."""

from reproduction.running.jobs import job_log
from reproduction.exactness.experiment import agreement_table, distance_table
from reproduction.running.tables import read_csvs, write_table

with job_log(snakemake.log[0]):
    agreement = agreement_table(read_csvs(snakemake.input.agreement))
    write_table(agreement, snakemake.output.agreement_csv, "Samplers against exact draws")
    distances = distance_table(read_csvs(snakemake.input.distances))
    write_table(distances, snakemake.output.distance_csv, "Actual distances against the bounds")
