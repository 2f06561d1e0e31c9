"""Compute what an attacker learns from a swapped file, and integer noise on the same table."""

from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.swapping.printed import read_massachusetts
from reproduction.swapping.tables import attack_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    table = read_massachusetts(snakemake.input.massachusetts)
    _, rng = stream(params.seed, "swapping", "computed").spawn(2)
    write_tables(attack_tables(rng, table, params.rates, params.located), snakemake.output)
