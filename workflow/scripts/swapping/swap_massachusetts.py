"""Swap Massachusetts in 1940, and compare the printed swap with its exact distribution."""

from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.swapping.households import scenarios
from reproduction.swapping.massachusetts import all_runs
from reproduction.swapping.printed import read_massachusetts
from reproduction.swapping.tables import massachusetts_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    table = read_massachusetts(snakemake.input.massachusetts)
    households = scenarios(table, params.households)
    rng = stream(params.seed, "swapping", "runs")
    runs = all_runs(rng, households, params.rates, params.runs)
    write_tables(massachusetts_tables(table, households, runs), snakemake.output)
