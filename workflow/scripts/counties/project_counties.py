"""Project noise onto the total of one state, and compare it with generalized Laplace noise."""

from isdp.io.draws import read_draws
from isdp.io.files import write_csv
from isdp.streams import stream
from reproduction.counties.projection import (
    project_state,
    summarise_projection,
    tabulate_projected_boxes,
)
from reproduction.data.published import select_counties
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]) as log:
    params, output, state = snakemake.params, snakemake.output, snakemake.wildcards.state
    counties = select_counties(read_csv(snakemake.input.counties), state)
    generalized = read_draws(snakemake.input.draws).noise_of(counties["fips"])
    rng, settings = stream(params.seed, "projection", state), params.settings
    projected, solved = project_state(rng, len(counties), params.epsilon, **settings)
    log.info("solved by HiGHS: %s", solved)
    write_csv(summarise_projection(state, projected, generalized, solved), output.summary)
    write_csv(tabulate_projected_boxes(counties, projected, generalized), output.boxes)
