"""Regress the errors of the Census DAS on log population, state by state."""

from isdp.io.files import write_csv
from reproduction.counties.das_errors import das_regressions, slope_intervals
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    regressions = das_regressions(read_csv(snakemake.input.counties))
    write_csv(regressions, snakemake.output.regressions)
    write_csv(slope_intervals(regressions), snakemake.output.slopes)
