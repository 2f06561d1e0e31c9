"""Measure the acceptance rate of the independence sampler by its proposal parameter."""

from isdp.io.draws import read_draws
from isdp.seeds import stream
from reproduction.congenial.sex_by_age import acceptance_table, spread_draws
from reproduction.data.table_p12 import CELLS
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    files, settings = snakemake.input, snakemake.params.settings
    rng = stream(snakemake.params.seed, "sex by age", "acceptance")
    counts = read_csv(files.counts)["count"].to_numpy()
    noise = read_draws(files.draws).noise_of(CELLS)
    starts = spread_draws(noise, settings["acceptance"]["chains"])
    rates = acceptance_table(rng, counts, settings, starts)
    write_tables({"acceptance": rates, "acceptance_points": rates}, snakemake.output)
