"""Choose the states by the paper's rule, or by the config."""

from isdp.io.files import read_json, write_csv
from reproduction.counties.states import select_states
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    states = select_states(
        read_csv(snakemake.input.regressions),
        vintage=read_json(snakemake.input.provenance)["vintage"],
        asked=snakemake.params.states,
        stand_in=snakemake.params.stand_in,
    )
    write_csv(states, snakemake.output.states)
