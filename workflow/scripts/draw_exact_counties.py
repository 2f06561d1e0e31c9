"""Draw one state's noise without a Markov chain, and describe it."""

from isdp.counties import box_table, counties_of, noise_table, state_table
from isdp.diagnostics import convergence
from isdp.drawfile import write_draws
from isdp.files import read_csv, write_csv
from isdp.invariants import Invariants
from isdp.logs import job_log
from isdp.mechanisms import GeneralizedLaplace
from isdp.perfect import exact_draws
from isdp.seeds import stream

with job_log(snakemake.log[0]) as log:
    params, output, state = snakemake.params, snakemake.output, snakemake.wildcards.state
    counties = counties_of(read_csv(snakemake.input.counties), state)
    mechanism = GeneralizedLaplace(params.epsilon, params.norm)
    draws = exact_draws(
        stream(params.seed, "exact counties", state),
        Invariants.total(len(counties), f"population of {state}"),
        mechanism,
        counties["fips"].tolist(),
        params.draws,
    )
    log.info("%s", draws.settings)
    write_draws(output.draws, draws)
    noise, diagnostics = draws.noise, convergence(draws.noise)
    write_csv(noise_table(counties, noise, diagnostics), output.noise)
    write_csv(state_table(counties, noise, diagnostics, mechanism), output.state)
    write_csv(box_table(counties, noise), output.boxes)
