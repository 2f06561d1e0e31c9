"""Place the noise tables that the paper prints within our laws."""

from isdp.drawfile import read_draws
from isdp.experiment import mechanism_of
from isdp.files import write_table
from isdp.lattices import printed_table
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    params = snakemake.params
    draws = dict(zip(params.laws, map(read_draws, snakemake.input.draws), strict=True))
    mechanisms = {law: mechanism_of(entry) for law, entry in params.laws.items()}
    table = printed_table(params.printed, draws, mechanisms)
    write_table(table, snakemake.output.csv, "The paper's printed noise within our laws")
