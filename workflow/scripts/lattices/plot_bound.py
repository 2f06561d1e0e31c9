"""Plot the coupling bounds of one distribution in a separate figure."""

from isdp.io.files import write_csv
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.lattices.bound_figures import plot_bound
from reproduction.lattices.convergence import gather_bound_points

with job_log(snakemake.log[0]):
    params, output, names = snakemake.params, snakemake.output, snakemake.wildcards
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    figure = plot_bound(names.experiment, {names.law: params.law}, read["curves"], runs=params.runs)
    save_figures({"bound": figure}, output)
    write_csv(gather_bound_points(read["curves"], read["distances"]), output.points)
