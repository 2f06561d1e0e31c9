"""Describe the noise of one experiment under all its laws, and compare it with exact draws."""

from reproduction.exactness.experiment import compare_laws
from reproduction.lattices.entry import mechanism_of
from reproduction.lattices.noise import noise_tables
from reproduction.running.draws import read_by
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_tables

with job_log(snakemake.log[0]):
    params, files = snakemake.params, snakemake.input
    name = snakemake.wildcards.experiment
    mechanisms = {law: mechanism_of(entry) for law, entry in params.laws.items()}
    chains, exact = read_by("law", files.draws), read_by("law", files.exact)
    samplers = {"paper": read_by("law", files.paper)}
    if params.variant != "paper":
        samplers["mcmc"] = chains
    write_tables(noise_tables(chains, exact, mechanisms, name), snakemake.output)
    compared = compare_laws(params.seed, name, mechanisms, samplers, exact)
    write_tables(compared, snakemake.output)
