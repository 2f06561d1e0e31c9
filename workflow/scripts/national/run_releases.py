"""Compute a batch of releases by the systems of one family, and measure their errors."""

from isdp.io.files import write_csv
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.national.release_errors import list_releases, run_batch
from reproduction.national.settings import split_batches
from reproduction.topdown.experiment import keep_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    histogram = keep_states(histogram, params.states)
    family, part = snakemake.wildcards.family, int(snakemake.wildcards.part)
    every = list_releases(family, params.states, params.budgets)
    found = run_batch(params.seed, histogram, family, split_batches(every, params.batch)[part])
    write_csv(found, snakemake.output.errors)
