"""Sample the noise of one state's counties from over-dispersed starts."""

from isdp.io.draws import write_draws
from isdp.io.files import write_json
from isdp.seeds import stream
from reproduction.counties.experiment import sample_state
from reproduction.counties.states import counties_of
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, state = snakemake.params, snakemake.wildcards.state
    draws, speed = sample_state(
        stream(params.seed, "counties", state),
        counties_of(read_csv(snakemake.input.counties), state),
        epsilon=params.epsilon,
        norm=params.norm,
        chains=params.chains,
        draws=params.draws,
        burn_in=params.burn_in,
        thin=params.thin,
        basis=params.basis,
        acceptance=params.acceptance,
        proposal=params.proposal,
        overdispersed=params.overdispersed,
    )
    write_draws(snakemake.output.draws, draws)
    write_json(snakemake.output.speed, speed)
