"""Draw the bounds on the distance to the target under one law."""

from isdp.io.files import write_csv
from isdp.plots.bounds import bound_points, bound_title, tv_bounds
from isdp.plots.style import save
from reproduction.lattices.entry import describe
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    law = snakemake.wildcards.law
    curves, distances = read_csv(files.curves), read_csv(files.distances)
    distances = distances[distances["law"] == law]
    title = bound_title(snakemake.wildcards.experiment, params.runs)
    laws = {law: describe(params.law)}
    figure = tv_bounds(curves, read_csv(files.trails), distances, title, laws)
    save(figure, output.svg, output.png)
    write_csv(bound_points(curves, distances), output.data)
