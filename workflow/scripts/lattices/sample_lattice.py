"""Draw the noise of one experiment under one law, by the paper's chain and by ours."""

from isdp.io.draws import write_draws
from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.jobs.draws import labelled
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.lattices.entry import build, settings_of, walk_of
from reproduction.lattices.noise import burn_in_from, cross_table, sample_noise

with job_log(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    experiment, meetings = build(params.entry), read_csv(snakemake.input.meetings)
    names, noise = dict(snakemake.wildcards.items()), params.noise
    names["mechanism"] = settings_of(params.law)
    for sampler, variant, unit, path in (
        ("paper", "paper", "paper's chain", output.paper),
        ("mcmc", noise["variant"], "noise", output.draws),
    ):
        burn_in, converged = burn_in_from(meetings, variant, params.cap)
        drawn = sample_noise(
            stream(params.seed, f"{unit} {names['experiment']}", names["law"]),
            experiment,
            walk_of(experiment, params.law, params.variants, variant),
            chains=noise["chains"],
            draws=noise["draws"],
            burn_in=burn_in,
            converged=converged,
        )
        drawn = labelled(drawn, wing="lattices", sampler=sampler, **names)
        log.info("settings of %s: %s", sampler, drawn.settings)
        write_draws(path, drawn)
    axes = experiment.axes or {"record": experiment.cells}
    write_csv(cross_table(drawn.noise[0, -1], axes), output.one_draw)
