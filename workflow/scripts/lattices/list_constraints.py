"""List the records that each constraint counts."""

from isdp.io.files import write_csv
from reproduction.lattices.entry import constraint_pairs
from reproduction.running.jobs import job_log

with job_log(snakemake.log[0]):
    write_csv(constraint_pairs(snakemake.params.constraints), snakemake.output.pairs)
