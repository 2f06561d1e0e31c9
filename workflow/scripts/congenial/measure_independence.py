"""Record a trace of the independence sampler, and its acceptance rate by proposal parameter."""

from isdp.io.draws import read_draws
from isdp.streams import stream
from reproduction.congenial.sex_by_age import measure_acceptance, trace_chains
from reproduction.data.table_p12 import CELLS
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    files, seed, settings = snakemake.input, snakemake.params.seed, snakemake.params.settings
    counts = read_csv(files.counts)["count"].to_numpy()
    tables = trace_chains(stream(seed, "sex by age", "trace"), counts, settings)
    noise = read_draws(files.draws).noise_of(CELLS)
    rates = measure_acceptance(stream(seed, "sex by age", "acceptance"), counts, settings, noise)
    write_tables({**tables, "acceptance": rates, "acceptance_points": rates}, snakemake.output)
