"""Compare the noise tables that the paper prints with draws of our laws."""

from isdp.io.files import write_csv
from reproduction.jobs.draws import read_by
from reproduction.jobs.job_log import job_log
from reproduction.lattices.entry import mechanism_of
from reproduction.lattices.noise import printed_table

with job_log(snakemake.log[0]):
    params = snakemake.params
    mechanisms = {law: mechanism_of(entry) for law, entry in params.laws.items()}
    table = printed_table(params.printed, read_by("law", snakemake.input.draws), mechanisms)
    write_csv(table, snakemake.output.printed)
