"""Draw the figures of TopDown."""

from isdp.accounting.conversions import CONVERSIONS
from isdp.plots.style import save
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv
from reproduction.topdown import figures

with job_log(snakemake.log[0]):
    output = snakemake.output
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    drawn = {
        "noise": figures.noise(read["noise"], list(CONVERSIONS)),
        "bias": figures.bias(read["bias"]),
        "slopes": figures.slopes(read["slopes"], read["trend"]),
        "counties": figures.counties(read["counties"], snakemake.params.shown),
        "swapping": figures.swapping(read["fingerprint"], read["sizes"]),
    }
    for name, figure in drawn.items():
        save(figure, output[name], output[f"{name}_png"])
