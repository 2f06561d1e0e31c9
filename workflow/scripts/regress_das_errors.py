"""Regress the DAS errors on log population, state by state."""

from isdp import plotting
from isdp.files import read_csv, write_csv, write_table
from isdp.logs import job_log
from isdp.regression import das_regressions, slope_intervals

with job_log(snakemake.log[0]):
    regressions = das_regressions(read_csv(snakemake.input.counties))
    write_table(regressions, snakemake.output.csv, "Errors of the Census DAS on log population")
    intervals = slope_intervals(regressions)
    write_csv(intervals, snakemake.output.slopes)
    figure = plotting.slopes(
        intervals, "Regression of the DAS error of a county on its log population, by state"
    )
    plotting.save(figure, snakemake.output.svg, snakemake.output.png)
