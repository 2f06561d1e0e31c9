"""Place the noise tables that the paper prints within our laws."""

from reproduction.running.jobs import job_log
from reproduction.lattices.entry import mechanism_of
from reproduction.lattices.noise import printed_table
from reproduction.running.draws import read_by
from reproduction.running.tables import write_table

with job_log(snakemake.log[0]):
    params = snakemake.params
    mechanisms = {law: mechanism_of(entry) for law, entry in params.laws.items()}
    table = printed_table(params.printed, read_by("law", snakemake.input.draws), mechanisms)
    write_table(table, snakemake.output.csv, "The paper's printed noise within our laws")
