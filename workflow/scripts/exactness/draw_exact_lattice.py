"""Draw the noise of one experiment under one law without a Markov chain."""

from isdp.io.draws import write_draws
from isdp.streams import stream
from reproduction.exactness.experiment import exact_draws
from reproduction.jobs.draws import labelled
from reproduction.jobs.job_log import job_log
from reproduction.lattices.entry import build, mechanism_of, settings_of

with job_log(snakemake.log[0]) as log:
    params, names = snakemake.params, dict(snakemake.wildcards.items())
    experiment = build(params.entry)
    rng = stream(params.seed, f"exact {names['experiment']}", names["law"])
    mechanism = mechanism_of(params.law)
    draws = exact_draws(rng, experiment.invariants, mechanism, experiment.cells, params.draws)
    names |= {"sampler": "exact", "mechanism": settings_of(params.law)}
    draws = labelled(draws, wing="lattices", **names)
    log.info("%s", draws.settings)
    write_draws(snakemake.output.draws, draws)
