"""Tell whether truncating county counts at zero changes anything, and what that would take."""

import pandas as pd

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.plots.style import save
from reproduction.counties.truncation import (
    county_chances,
    needed_populations,
    truncation_curves,
    truncation_states,
)
from reproduction.counties.truncation_figures import truncation
from reproduction.running.tables import read_csv, write_table

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    counties = read_csv(snakemake.input.counties)
    states = truncation_states(counties, params.epsilon, read_csv(snakemake.input.sampled))
    write_table(states, output.csv, "Truncating county counts at zero, state by state")
    write_csv(county_chances(counties, params.epsilon), output.counties)
    curves = truncation_curves(counties, params.epsilons)
    needed = needed_populations(params.epsilons)
    series = {"expected truncated": curves, "population needed": needed}
    write_csv(pd.concat([t.assign(series=name) for name, t in series.items()]), output.data)
    smallest = counties.sort_values("population").iloc[[0, 9, 99]]
    figure = truncation(curves, needed, smallest, params.epsilon)
    save(figure, output.svg, output.png)
