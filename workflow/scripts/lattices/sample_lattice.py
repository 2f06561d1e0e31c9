"""Draw the noise of one experiment and distribution with the paper's chain and with ours."""

from isdp.io.draws import write_draws
from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.jobs.draws import label_draws
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.lattices.entry import build_experiment, build_walk, drop_proposal
from reproduction.lattices.noise import choose_burn_in, sample_noise, tabulate_counts

with job_log(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    experiment, meetings = build_experiment(params.entry), read_csv(snakemake.input.meetings)
    names, noise = dict(snakemake.wildcards.items()), params.noise
    names["mechanism"] = drop_proposal(params.law)
    for sampler, variant, unit, path in (
        ("paper", "paper", "paper's chain", output.paper),
        ("mcmc", noise["variant"], "noise", output.draws),
    ):
        burn_in, converged = choose_burn_in(meetings, variant, params.cap)
        drawn = sample_noise(
            stream(params.seed, f"{unit} {names['experiment']}", names["law"]),
            experiment,
            build_walk(experiment, params.law, params.variants, variant),
            chains=noise["chains"],
            draws=noise["draws"],
            burn_in=burn_in,
            converged=converged,
        )
        drawn = label_draws(drawn, study="lattices", sampler=sampler, **names)
        log.info("settings of %s: %s", sampler, drawn.settings)
        write_draws(path, drawn)
    axes = experiment.axes or {"record": experiment.cells}
    write_csv(tabulate_counts(drawn.noise[0, -1], axes), output.one_draw)
