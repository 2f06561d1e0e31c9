"""Release a batch of states by the systems of one family, and measure each."""

from isdp.io.files import write_csv
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.national.releases import run_batch
from reproduction.running.jobs import job_log
from reproduction.topdown.experiment import only_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    histogram = only_states(histogram, params.states)
    found = run_batch(params.seed, histogram, snakemake.wildcards.family, params.batch)
    write_csv(found, snakemake.output.errors)
