"""Draw the noise of one experiment under one law without a Markov chain."""

from isdp.io.draws import write_draws
from isdp.seeds import stream
from reproduction.exactness.experiment import exact_draws
from reproduction.lattices.entry import build, mechanism_of, settings_of
from reproduction.running.draws import labelled
from reproduction.running.jobs import job_log

with job_log(snakemake.log[0]) as log:
    params, wildcards = snakemake.params, snakemake.wildcards
    experiment = build(params.entry)
    draws = exact_draws(
        stream(params.seed, f"exact {wildcards.experiment}", wildcards.law),
        experiment.invariants,
        mechanism_of(params.law),
        experiment.cells,
        params.draws,
    )
    names = {"experiment": wildcards.experiment, "law": wildcards.law, "sampler": "exact"}
    draws = labelled(draws, wing="lattices", **names, mechanism=settings_of(params.law))
    log.info("%s", draws.settings)
    write_draws(snakemake.output.draws, draws)
