"""Plot the figures of TopDown."""

from isdp.accounting.conversions import CONVERSIONS
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.topdown import figures

with job_log(snakemake.log[0]):
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    drawn = {
        "noise": figures.plot_noise(read["noise"], list(CONVERSIONS)),
        "bias": figures.plot_bias(read["bias"]),
        "slopes": figures.plot_slopes(read["trend"]),
        "counties": figures.plot_counties(read["counties"], snakemake.params.shown),
        "swapping": figures.plot_swapping(read["fingerprint"], read["sizes"]),
    }
    save_figures(drawn, snakemake.output)
