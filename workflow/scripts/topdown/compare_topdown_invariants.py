"""Run TopDown with and without invariants, from the same measurements."""

from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.topdown.systems import with_and_without

with job_log(snakemake.log[0]):
    given, params = snakemake.input, snakemake.params
    histogram = read_histogram(given.histogram, read_published(given.published))
    table = with_and_without(params.seed, histogram, params.runs)
    write_tables({"invariants": table}, snakemake.output)
