"""Plot the figures of the comparison."""

from reproduction.comparison import figures
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    errors, bias, shares = map(read_csv, snakemake.input)
    drawn = {
        "errors": figures.plot_errors(errors, bias.groupby("parameter")["budget"].first()),
        "bias": figures.plot_bias(bias),
        "shares": figures.plot_shares(shares),
    }
    save_figures(drawn, snakemake.output)
