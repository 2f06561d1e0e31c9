"""Draw the bounds on the distance to the target under one law."""

from isdp import plotting
from isdp.experiment import describe
from isdp.files import read_csv, write_csv
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    law = snakemake.wildcards.law
    curves, distances = read_csv(files.curves), read_csv(files.distances)
    distances = distances[distances["norm"] == law]
    title = plotting.bound_title(snakemake.wildcards.experiment, params.runs)
    laws = {law: describe(params.law)}
    figure = plotting.tv_bounds(curves, read_csv(files.trails), distances, title, laws)
    plotting.save(figure, output.svg, output.png)
    write_csv(plotting.bound_points(curves, distances), output.data)
