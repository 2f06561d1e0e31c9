"""Draw the noise of one state by an exact sampler, without a Markov chain."""

from isdp.constraints.invariants import Invariants
from isdp.io.draws import write_draws
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from isdp.streams import stream
from reproduction.data.published import select_counties
from reproduction.exactness.experiment import draw_exactly
from reproduction.jobs.draws import label_draws
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]) as log:
    params, state = snakemake.params, snakemake.wildcards.state
    cells = select_counties(read_csv(snakemake.input.counties), state)["fips"].tolist()
    rng = stream(params.seed, "exact counties", state)
    invariants = Invariants.total(len(cells), f"population of {state}")
    mechanism = GeneralizedLaplace(**params.mechanism)
    draws = draw_exactly(rng, invariants, mechanism, cells, params.draws)
    names = {"experiment": "counties", "law": mechanism.norm, "unit": state, "sampler": "exact"}
    draws = label_draws(draws, study="counties", **names, mechanism=params.mechanism)
    log.info("%s", draws.settings)
    write_draws(snakemake.output.draws, draws)
