"""Run configurations of TopDown on the published counts, and measure the errors of each run."""

from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.topdown.system_errors import run_topdown

with job_log(snakemake.log[0]):
    given, params = snakemake.input, snakemake.params
    histogram = read_histogram(given.histogram, read_published(given.published))
    write_tables(run_topdown(params.seed, histogram, params.runs), snakemake.output)
