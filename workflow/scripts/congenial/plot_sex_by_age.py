"""Draw the figures of sex by age."""

from reproduction.congenial.figures import plot_sex_by_age
from reproduction.running.figures import save_figures
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    save_figures(plot_sex_by_age(read, snakemake.params.settings), snakemake.output)
