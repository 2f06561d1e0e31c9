"""Draw one experiment: the noise of each cell, exact draws of it, both laws, and the bounds."""

from isdp.io.files import write_csv
from isdp.plots.bounds import bound_points, bound_title, tv_bounds
from isdp.plots.boxes import cell_boxes
from isdp.plots.laws import laws_overlaid
from isdp.plots.style import save
from reproduction.lattices.entry import describe
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, read_csvs

SAMPLERS = {
    "mcmc": "Markov chains",
    "staged rejection": "staged rejection",
    "messages": "messages",
}

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    name = snakemake.wildcards.experiment
    laws = {law: describe(entry) for law, entry in params.laws.items()}
    title = f"{name}: noise of each cell, {params.realisations} realisations"
    figure = cell_boxes(read_csv(files.boxes), title, laws)
    save(figure, output.noise_svg, output.noise_png)
    title = f"{name}: noise of each cell, {params.exact_realisations} exact draws"
    figure = cell_boxes(read_csv(files.exact_boxes), title, laws)
    save(figure, output.exact_svg, output.exact_png)
    points = read_csv(files.laws)
    norms, quantiles = points[points["series"] == "norm"], points[points["series"] == "cells"]
    title = f"{name}: the law that the chains find, over exact draws"
    figure = laws_overlaid(norms, quantiles, read_csv(files.agreement), title, laws, SAMPLERS)
    save(figure, output.laws_svg, output.laws_png)
    curves, distances = read_csvs(files.curves), read_csv(files.distances)
    title = bound_title(name, params.runs)
    figure = tv_bounds(curves, read_csvs(files.trails), distances, title, laws)
    save(figure, output.bound_svg, output.bound_png)
    write_csv(bound_points(curves, distances), output.bound_data)
