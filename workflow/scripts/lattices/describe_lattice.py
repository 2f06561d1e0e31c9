"""Describe the noise of one experiment under all its laws, and compare it with exact draws."""

from isdp.io.files import write_csv
from reproduction.exactness.experiment import compare_laws, follow_laws
from reproduction.jobs.draws import read_by
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables
from reproduction.lattices.entry import build, mechanism_of, walk_of
from reproduction.lattices.noise import noise_tables

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    name, experiment = snakemake.wildcards.experiment, build(params.entry)
    mechanisms = {law: mechanism_of(entry) for law, entry in params.laws.items()}
    walks = {
        (law, variant): walk_of(experiment, entry, params.variants, variant)
        for law, entry in params.laws.items()
        for variant in params.variants
    }
    chains, exact = read_by("law", files.draws), read_by("law", files.exact)
    samplers = {"paper": read_by("law", files.paper)}
    if params.variant != "paper":
        samplers["mcmc"] = chains
    write_tables(noise_tables(chains, exact, mechanisms, name), output)
    write_tables(compare_laws(params.seed, name, mechanisms, samplers, exact), output)
    curves = read_csvs(files.curves)
    followed = follow_laws(params.seed, name, walks, exact, curves, params.following)
    write_csv(followed, output.distances)
