"""Release a batch of states by the systems of one family, and measure each."""

from isdp.io.files import write_csv
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.national.releases import releases, run_batch
from reproduction.national.settings import batches
from reproduction.topdown.experiment import only_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    histogram = only_states(histogram, params.states)
    family, part = snakemake.wildcards.family, int(snakemake.wildcards.part)
    every = releases(family, params.states, params.budgets)
    found = run_batch(params.seed, histogram, family, batches(every, params.batch)[part])
    write_csv(found, snakemake.output.errors)
