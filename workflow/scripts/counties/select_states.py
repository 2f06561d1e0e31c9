"""Regress the errors of the Census DAS in each state, and select the states to run."""

from isdp.io.files import read_json, write_csv
from reproduction.counties.states import add_slope_intervals, regress_das_errors, select_states
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    regressions = regress_das_errors(read_csv(snakemake.input.counties))
    write_csv(regressions, output.regressions)
    write_csv(add_slope_intervals(regressions), output.slopes)
    vintage = read_json(snakemake.input.provenance)["vintage"]
    states = select_states(regressions, vintage, params.states, params.stand_in)
    write_csv(states, output.states)
