"""Add projected Laplace noise to the counties of all states of the run."""

from functools import partial

from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv
from reproduction.subspace.counties import all_states

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    counties, boxes = all_states(
        partial(stream, params.seed, "subspace counties"),
        read_csv(snakemake.input.counties),
        read_csv(snakemake.input.states)["state"],
        params.epsilon,
        params.settings,
    )
    write_csv(counties, output.counties)
    write_csv(boxes, output.boxes)
