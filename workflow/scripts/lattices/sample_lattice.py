"""Draw the noise of one experiment under one law, once the bound says converged."""

from reproduction.running.jobs import job_log
from isdp.io.draws import write_draws
from isdp.seeds import stream
from reproduction.lattices.entry import build, describe, settings_of, walk_of
from reproduction.lattices.noise import burn_in_from, cross_table, sample_noise
from reproduction.running.draws import labelled
from reproduction.running.tables import read_csv, write_table

with job_log(snakemake.log[0]) as log:
    params, wildcards = snakemake.params, snakemake.wildcards
    experiment, variant = build(params.entry), params.noise["variant"]
    burn_in, converged = burn_in_from(read_csv(snakemake.input.meetings), variant, params.cap)
    draws = sample_noise(
        stream(params.seed, f"noise {wildcards.experiment}", wildcards.law),
        experiment,
        walk_of(experiment, params.law, params.variants, variant),
        chains=params.noise["chains"],
        draws=params.noise["draws"],
        burn_in=burn_in,
        converged=converged,
    )
    names = {"experiment": wildcards.experiment, "law": wildcards.law, "sampler": "mcmc"}
    draws = labelled(draws, wing="lattices", **names, mechanism=settings_of(params.law))
    log.info("settings: %s", draws.settings)
    write_draws(snakemake.output.draws, draws)
    axes = experiment.axes or {"record": experiment.cells}
    table = cross_table(draws.noise[0, -1], axes)
    write_table(table, snakemake.output.csv, f"One draw of noise: {describe(params.law)}")
