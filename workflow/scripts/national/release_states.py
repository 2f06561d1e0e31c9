"""Run TopDown on the two upper levels: the nation and its states."""

from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.national.topdown_to_blocks import release_states
from reproduction.topdown.experiment import keep_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    states = keep_states(histogram, params.states)
    write_tables(release_states(params.seed, states), snakemake.output)
