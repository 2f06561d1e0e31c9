"""Describe the noise of each distribution of one experiment, and compare it with exact draws."""

from isdp.io.files import write_csv
from reproduction.exactness.experiment import compare_distributions, follow_distributions
from reproduction.jobs.draws import read_draws_by
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs, write_tables
from reproduction.lattices.entry import build_experiment, build_mechanism, build_walk
from reproduction.lattices.noise import describe_noise

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    name, experiment = snakemake.wildcards.experiment, build_experiment(params.entry)
    mechanisms = {law: build_mechanism(entry) for law, entry in params.laws.items()}
    walks = {
        (law, variant): build_walk(experiment, entry, params.variants, variant)
        for law, entry in params.laws.items()
        for variant in params.variants
    }
    chains, exact = read_draws_by("law", files.draws), read_draws_by("law", files.exact)
    samplers = {"paper": read_draws_by("law", files.paper)}
    if params.variant != "paper":
        samplers["mcmc"] = chains
    write_tables(describe_noise(chains, exact, mechanisms, name), output)
    write_tables(compare_distributions(params.seed, name, mechanisms, samplers, exact), output)
    curves = read_csvs(files.curves)
    followed = follow_distributions(params.seed, name, walks, exact, curves, params.following)
    write_csv(followed, output.distances)
