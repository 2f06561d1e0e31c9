"""TopDown on the two upper levels: the nation and its states."""

from isdp.io.files import write_csv
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.national.blocks import release_states
from reproduction.running.jobs import job_log
from reproduction.topdown.experiment import only_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    released, errors = release_states(params.seed, only_states(histogram, params.states))
    write_csv(released, snakemake.output.released)
    write_csv(errors, snakemake.output.errors)
