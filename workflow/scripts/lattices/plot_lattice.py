"""Draw the figures of one experiment for all its distributions."""

from isdp.io.files import write_csv
from reproduction.lattices.convergence import gather_bound_points
from reproduction.lattices.figures import plot_experiment
from reproduction.running.figures import save_figures
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    read = {name: read_csvs(paths) for name, paths in snakemake.input.items()}
    numbers = {name: params[name] for name in ("runs", "draws", "exact_draws")}
    figures = plot_experiment(snakemake.wildcards.experiment, params.laws, read, **numbers)
    save_figures(figures, output)
    write_csv(gather_bound_points(read["curves"], read["distances"]), output.points)
