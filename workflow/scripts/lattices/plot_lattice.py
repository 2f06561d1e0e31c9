"""Plot the figures of one experiment for all its distributions."""

from isdp.io.files import write_csv
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs
from reproduction.lattices.convergence import gather_bound_points
from reproduction.lattices.figures import plot_experiment

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    read = {name: read_csvs(paths) for name, paths in snakemake.input.items()}
    numbers = {name: params[name] for name in ("runs", "draws", "exact_draws")}
    figures = plot_experiment(
        snakemake.wildcards.experiment, params.laws, read, **numbers, unit=params.unit
    )
    save_figures(figures, output)
    write_csv(gather_bound_points(read["curves"], read["distances"]), output.points)
