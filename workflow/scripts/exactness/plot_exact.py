"""Draw Markov chains and exact draws: the counties of all states, and sex by age."""

from isdp.plots.style import save
from reproduction.exactness.figures import exact_figures
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    numbers = {key: value for key, value in params.items() if key != "sources"}
    for name, figure in exact_figures(read, **numbers).items():
        save(figure, output[name], output[f"{name}_png"])
