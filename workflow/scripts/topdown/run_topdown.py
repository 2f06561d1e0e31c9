"""Run configurations of TopDown on the published counts, and measure each run."""

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.topdown.systems import topdown_runs

with job_log(snakemake.log[0]):
    published = read_published(snakemake.input.published)
    histogram = read_histogram(snakemake.input.histogram, published)
    found = topdown_runs(snakemake.params.seed, histogram, snakemake.params.runs)
    for kind, table in found.items():
        write_csv(table, snakemake.output[kind])
