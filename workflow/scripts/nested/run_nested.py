"""Release the counts by the systems of one family at all budgets, and measure the errors."""

from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.nested.experiment import run_family
from reproduction.topdown.experiment import keep_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    histogram = keep_states(histogram, params.settings["states"])
    family = snakemake.wildcards.family
    found = run_family(params.seed, histogram, family, params.settings, params.read)
    write_tables(found, snakemake.output)
