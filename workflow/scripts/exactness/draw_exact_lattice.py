"""Draw the noise of one experiment and distribution by an exact sampler."""

from isdp.io.draws import write_draws
from isdp.streams import stream
from reproduction.exactness.experiment import draw_exactly
from reproduction.jobs.draws import label_draws
from reproduction.jobs.job_log import job_log
from reproduction.lattices.entry import build_experiment, build_mechanism, drop_proposal

with job_log(snakemake.log[0]) as log:
    params, names = snakemake.params, dict(snakemake.wildcards.items())
    experiment = build_experiment(params.entry)
    rng = stream(params.seed, f"exact {names['experiment']}", names["law"])
    mechanism = build_mechanism(params.law)
    draws = draw_exactly(rng, experiment.invariants, mechanism, experiment.cells, params.draws)
    names |= {"sampler": "exact", "mechanism": drop_proposal(params.law)}
    draws = label_draws(draws, study="lattices", **names)
    log.info("%s", draws.settings)
    write_draws(snakemake.output.draws, draws)
