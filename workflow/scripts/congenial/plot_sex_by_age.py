"""Draw the figures of sex by age."""

from isdp.plots.style import save
from reproduction.congenial.figures import sex_by_age_figures
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    output = snakemake.output
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    for name, figure in sex_by_age_figures(read, snakemake.params.settings).items():
        save(figure, output[name], output[f"{name}_png"])
