"""Draw the noise of one experiment under one law, once the bound says converged."""

from isdp.io.draws import write_draws
from isdp.lattice.kernel import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk
from isdp.seeds import stream
from reproduction.lattices.entry import build, describe, mechanism_of
from reproduction.lattices.noise import burn_in_from, cross_table, sample_noise
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_table

with job_log(snakemake.log[0]) as log:
    params, wildcards = snakemake.params, snakemake.wildcards
    experiment = build(params.entry)
    variant = params.variants[params.noise["variant"]]
    walk = LatticeWalk(
        kernel_lattice(experiment.invariants, variant["basis"]),
        mechanism_of(params.law),
        params.law["proposal"][params.noise["variant"]],
        variant["acceptance"],
    )
    burn_in, converged = burn_in_from(
        read_csv(snakemake.input.meetings), params.noise["variant"], params.cap
    )
    draws = sample_noise(
        stream(params.seed, f"noise {wildcards.experiment}", wildcards.law),
        experiment,
        walk,
        chains=params.noise["chains"],
        draws=params.noise["draws"],
        burn_in=burn_in,
        converged=converged,
    )
    log.info("settings: %s", draws.settings)
    write_draws(snakemake.output.draws, draws)
    axes = experiment.axes or {"record": experiment.cells}
    table = cross_table(draws.noise[0, -1], axes)
    write_table(table, snakemake.output.csv, f"One draw of noise: {describe(params.law)}")
