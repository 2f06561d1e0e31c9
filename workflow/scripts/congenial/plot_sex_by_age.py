"""Draw the figures of sex by age."""

from reproduction.congenial.figures import sex_by_age_figures
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    save_figures(sex_by_age_figures(read, snakemake.params.settings), snakemake.output)
