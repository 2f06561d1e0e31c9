"""Tabulate the meeting times, the convergence and the norms of all experiments."""

from isdp.io.files import write_csv
from reproduction.lattices.convergence import tabulate_convergence
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs

with job_log(snakemake.log[0]):
    files, output = snakemake.input, snakemake.output
    meetings = read_csvs(files.meetings)
    write_csv(meetings, output.meetings)
    write_csv(tabulate_convergence(meetings), output.convergence)
    write_csv(read_csvs(files.norms), output.norms)
