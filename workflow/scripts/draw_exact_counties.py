"""Draw one state's noise without a Markov chain."""

from isdp.counties import counties_of
from isdp.drawfile import write_draws
from isdp.files import read_csv
from isdp.invariants import Invariants
from isdp.logs import job_log
from isdp.mechanisms import GeneralizedLaplace
from isdp.perfect import exact_draws
from isdp.seeds import stream

with job_log(snakemake.log[0]) as log:
    params, state = snakemake.params, snakemake.wildcards.state
    counties = counties_of(read_csv(snakemake.input.counties), state)
    draws = exact_draws(
        stream(params.seed, "exact counties", state),
        Invariants.total(len(counties), f"population of {state}"),
        GeneralizedLaplace(params.epsilon, params.norm),
        counties["fips"].tolist(),
        params.draws,
    )
    log.info("%s", draws.settings)
    write_draws(snakemake.output.draws, draws)
