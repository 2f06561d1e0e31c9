"""Show the mean sign."""

from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.toy.figures import mean_sign

with job_log(snakemake.log[0]):
    save_figures({"signs": mean_sign(read_csv(snakemake.input.points))}, snakemake.output)
