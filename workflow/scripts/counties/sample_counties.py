"""Sample the noise of one state's counties from over-dispersed starts."""

from isdp.io.draws import write_draws
from isdp.io.files import write_json
from isdp.seeds import stream
from reproduction.counties.experiment import sample_state
from reproduction.counties.states import counties_of
from reproduction.running.draws import labelled
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, state = snakemake.params, snakemake.wildcards.state
    draws, speed = sample_state(
        stream(params.seed, "counties", state),
        counties_of(read_csv(snakemake.input.counties), state),
        **params.walk,
    )
    mechanism = {key: params.walk[key] for key in ("norm", "epsilon")}
    names = {"experiment": "counties", "law": params.walk["norm"], "unit": state, "sampler": "mcmc"}
    draws = labelled(draws, wing="counties", **names, mechanism=mechanism)
    write_draws(snakemake.output.draws, draws)
    write_json(snakemake.output.speed, {"state": state, **speed})
