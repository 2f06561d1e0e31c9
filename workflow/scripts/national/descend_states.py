"""Run TopDown from a batch of states down to their synthetic blocks."""

from isdp.io.files import write_csv
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.national.topdown_to_blocks import descend
from reproduction.topdown.experiment import keep_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    histogram = keep_states(histogram, params.states)
    released = read_csv(given.released)
    errors = descend(params.seed, histogram, params.blocks, released, params.batch)
    write_csv(errors, snakemake.output.errors)
