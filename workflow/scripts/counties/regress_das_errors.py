"""Regress the DAS errors on log population, state by state."""

from reproduction.running.jobs import job_log
from isdp.io.files import read_json, write_csv
from isdp.plots.style import save
from reproduction.counties.das_errors import das_regressions, slope_intervals
from reproduction.counties.figures import slopes
from reproduction.running.tables import read_csv, write_table

with job_log(snakemake.log[0]):
    regressions = das_regressions(read_csv(snakemake.input.counties))
    write_table(regressions, snakemake.output.csv, "Errors of the Census DAS on log population")
    intervals = slope_intervals(regressions)
    write_csv(intervals, snakemake.output.slopes)
    vintage = read_json(snakemake.input.provenance)["vintage"]
    title = "Regression of the DAS error of a county on its log population, by state"
    figure = slopes(intervals, f"{title} (vintage {vintage})" if vintage else title)
    save(figure, snakemake.output.svg, snakemake.output.png)
