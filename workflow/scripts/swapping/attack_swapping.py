"""Compute what an attacker learns from a swapped file, and integer noise on the same table."""

from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables
from reproduction.swapping.printed import read_massachusetts
from reproduction.swapping.tables import attack_tables

with job_log(snakemake.log[0]):
    table = read_massachusetts(snakemake.input.massachusetts)
    params = snakemake.params
    write_tables(attack_tables(table, params.settings, params.seed), snakemake.output)
