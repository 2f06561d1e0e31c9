"""Sample the noise of one state's counties from over-dispersed starts."""

from isdp.io.draws import write_draws
from isdp.streams import stream
from reproduction.counties.experiment import sample_state
from reproduction.data.published import select_counties
from reproduction.jobs.draws import label_draws
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    state, walk = snakemake.wildcards.state, snakemake.params.walk
    counties = select_counties(read_csv(snakemake.input.counties), state)
    draws = sample_state(stream(snakemake.params.seed, "counties", state), counties, **walk)
    mechanism = {key: walk[key] for key in ("norm", "epsilon")}
    names = {"experiment": "counties", "law": walk["norm"], "unit": state, "sampler": "mcmc"}
    draws = label_draws(draws, study="counties", **names, mechanism=mechanism)
    write_draws(snakemake.output.draws, draws)
