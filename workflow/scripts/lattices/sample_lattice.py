"""Draw the noise of one experiment under one law, by our chain and by the paper's."""

from isdp.io.draws import write_draws
from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.lattices.entry import build, settings_of, walk_of
from reproduction.lattices.noise import burn_in_from, cross_table, sample_noise
from reproduction.running.draws import labelled
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

PAPER = "paper"  # the variant that every config has

with job_log(snakemake.log[0]) as log:
    params, wildcards, output = snakemake.params, snakemake.wildcards, snakemake.output
    experiment, meetings = build(params.entry), read_csv(snakemake.input.meetings)
    drawn = {}
    for sampler, variant, unit in (
        ("mcmc", params.noise["variant"], "noise"),
        (PAPER, PAPER, "paper's chain"),
    ):
        burn_in, converged = burn_in_from(meetings, variant, params.cap)
        draws = sample_noise(
            stream(params.seed, f"{unit} {wildcards.experiment}", wildcards.law),
            experiment,
            walk_of(experiment, params.law, params.variants, variant),
            chains=params.noise["chains"],
            draws=params.noise["draws"],
            burn_in=burn_in,
            converged=converged,
        )
        names = {"experiment": wildcards.experiment, "law": wildcards.law, "sampler": sampler}
        law = settings_of(params.law)
        drawn[sampler] = labelled(draws, wing="lattices", **names, mechanism=law)
        log.info("settings of %s: %s", sampler, drawn[sampler].settings)
    write_draws(output.draws, drawn["mcmc"])
    write_draws(output.paper, drawn[PAPER])
    axes = experiment.axes or {"record": experiment.cells}
    write_csv(cross_table(drawn["mcmc"].noise[0, -1], axes), output.one_draw)
