"""Draw the nested noise of the populations of all synthetic blocks."""

from isdp.io.files import write_csv
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.national.nested_blocks import draw_block_noise
from reproduction.topdown.experiment import keep_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    histogram = keep_states(histogram, params.states)
    write_csv(draw_block_noise(params.seed, histogram, params.blocks), snakemake.output.levels)
