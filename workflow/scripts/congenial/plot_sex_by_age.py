"""Plot the figures of sex by age."""

from reproduction.congenial.figures import plot_sex_by_age
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    save_figures(plot_sex_by_age(read, snakemake.params.settings), snakemake.output)
