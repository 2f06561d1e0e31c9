"""Plot the figures of nested and crossing noise."""

from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.nested import figures

with job_log(snakemake.log[0]):
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    drawn = {
        "frontier": figures.plot_frontier(read["frontier"]),
        "errors": figures.plot_errors(read["errors"]),
        "sizes": figures.plot_sizes(read["sizes"]),
    }
    save_figures(drawn, snakemake.output)
