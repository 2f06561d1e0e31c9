"""Compare the chains of all states with exact draws, in total and by sweep."""

from isdp.io.files import write_csv
from reproduction.exactness.experiment import compare_counties
from reproduction.jobs.draws import read_draws_by
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables

with job_log(snakemake.log[0]):
    params, output, files = snakemake.params, snakemake.output, snakemake.input
    write_csv(read_csvs(files.noise), output.noise)
    write_csv(read_csvs(files.state), output.states)
    drawn, exact = read_draws_by("unit", files.draws), read_draws_by("unit", files.exact)
    settings = {name: params[name] for name in ("walk", "chains", "burn_in")}
    write_tables(compare_counties(params.seed, drawn, exact, **settings), output)
