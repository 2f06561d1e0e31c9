"""Put the meeting times of all experiments in one table, and compare the variants."""

from reproduction.lattices.convergence import convergence_table, meeting_columns, speed_table
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs, write_table

with job_log(snakemake.log[0]):
    meetings = read_csvs(snakemake.input.meetings)
    convergence = convergence_table(meetings)
    speed = speed_table(meetings, read_csvs(snakemake.input.seconds))
    write_table(meeting_columns(meetings), snakemake.output.meetings_csv, "Meeting times")
    write_table(
        convergence, snakemake.output.convergence_csv, "Iterations until the bound is below 0.01"
    )
    write_table(speed, snakemake.output.speed_csv, "Seconds until the bound is below 0.01")
