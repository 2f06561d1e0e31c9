"""Combine the meeting times and the norms of all experiments, and compare the convergence."""

from isdp.io.files import write_csv
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs
from reproduction.lattices.convergence import tabulate_convergence

with job_log(snakemake.log[0]):
    files, output = snakemake.input, snakemake.output
    meetings = read_csvs(files.meetings)
    write_csv(meetings, output.meetings)
    write_csv(tabulate_convergence(meetings, snakemake.params.printed), output.convergence)
    write_csv(read_csvs(files.norms), output.norms)
