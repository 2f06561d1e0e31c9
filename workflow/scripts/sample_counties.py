"""Sample the noise of one state's counties from over-dispersed starts."""

from isdp.counties import counties_of, sample_state
from isdp.drawfile import write_draws
from isdp.files import read_csv, write_json
from isdp.logs import job_log
from isdp.seeds import stream

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
