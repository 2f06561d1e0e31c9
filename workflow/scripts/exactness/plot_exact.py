"""Plot figures that compare Markov chains with exact draws, for counties and sex by age."""

from reproduction.exactness.figures import plot_exact_figures
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    save_figures(plot_exact_figures(read, snakemake.params), snakemake.output)
