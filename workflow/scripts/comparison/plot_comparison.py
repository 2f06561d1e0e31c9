"""Draw the figures of the comparison."""

from isdp.plots.style import save
from reproduction.comparison import figures
from reproduction.comparison.experiment import SWAPPED
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    output = snakemake.output
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    drawn = {
        "errors": figures.errors(read["errors"], SWAPPED),
        "bias": figures.bias(read["bias"], SWAPPED),
        "shares": figures.shares(read["shares"], SWAPPED),
    }
    for name, figure in drawn.items():
        save(figure, output[name], output[f"{name}_png"])
