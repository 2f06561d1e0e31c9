"""Tell whether truncating county counts at zero changes anything, and what that would take."""

import pandas as pd

from isdp import plots_projected
from isdp.files import read_csv, write_csv, write_table
from isdp.logs import job_log
from isdp.plotting import save
from isdp.truncation import (
    county_chances,
    needed_populations,
    truncation_curves,
    truncation_states,
)

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    counties = read_csv(snakemake.input.counties)
    states = truncation_states(counties, params.epsilon, read_csv(snakemake.input.sampled))
    write_table(states, output.csv, "Truncating county counts at zero, state by state")
    write_csv(county_chances(counties, params.epsilon), output.counties)
    curves = truncation_curves(counties, params.epsilons)
    needed = needed_populations(params.epsilons)
    write_csv(pd.concat([curves, needed.assign(state="")]), output.data)
    smallest = counties.sort_values("population").iloc[[0, 9, 99]]
    figure = plots_projected.truncation(curves, needed, smallest, params.epsilon)
    save(figure, output.svg, output.png)
