"""Draw signs."""

from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.jobs.job_log import job_log
from reproduction.toy.experiment import signs

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    table = signs(stream(params.seed, "toy"), **params.toy)
    write_csv(table, output.signs)
    write_csv(table, output.points)
