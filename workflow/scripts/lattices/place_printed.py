"""Compare the noise tables that the paper prints with our draws."""

from isdp.io.files import write_csv
from reproduction.jobs.draws import read_draws_by
from reproduction.jobs.job_log import job_log
from reproduction.lattices.entry import build_mechanism
from reproduction.lattices.noise import place_printed

with job_log(snakemake.log[0]):
    params = snakemake.params
    mechanisms = {law: build_mechanism(entry) for law, entry in params.laws.items()}
    table = place_printed(params.printed, read_draws_by("law", snakemake.input.draws), mechanisms)
    write_csv(table, snakemake.output.printed)
