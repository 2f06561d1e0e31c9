"""Draw the figures of one experiment under all its laws."""

from isdp.io.files import write_csv
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csvs
from reproduction.lattices.convergence import bound_points
from reproduction.lattices.figures import experiment_figures

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    read = {name: read_csvs(paths) for name, paths in snakemake.input.items()}
    numbers = {name: params[name] for name in ("runs", "draws", "exact_draws")}
    figures = experiment_figures(snakemake.wildcards.experiment, params.laws, read, **numbers)
    save_figures(figures, output)
    write_csv(bound_points(read["curves"], read["distances"]), output.points)
