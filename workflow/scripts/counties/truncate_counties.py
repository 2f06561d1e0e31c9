"""Compute the county counts that truncation at zero changes, and the epsilon at which it does."""

import pandas as pd

from isdp.io.files import write_csv
from reproduction.counties.truncation import (
    county_chances,
    needed_populations,
    truncation_curves,
    truncation_states,
)
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    counties = read_csv(snakemake.input.counties)
    sampled = read_csv(snakemake.input.sampled)
    write_csv(truncation_states(counties, params.epsilon, sampled), output.states)
    write_csv(county_chances(counties, params.epsilon), output.counties)
    series = {
        "expected truncated": truncation_curves(counties, params.epsilons),
        "population needed": needed_populations(params.epsilons),
    }
    write_csv(pd.concat([t.assign(series=name) for name, t in series.items()]), output.curves)
