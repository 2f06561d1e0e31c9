"""Draw one state's noise, a box plot a county."""

from isdp import plotting
from isdp.files import read_csv
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    params = snakemake.params
    figure = plotting.county_boxes(
        read_csv(snakemake.input.boxes),
        f"{snakemake.wildcards.state}: noise in county totals under the state's total, "
        f"{params.norm} generalized Laplace, epsilon = {params.epsilon:g}, "
        f"{params.chains} x {params.draws} draws",
    )
    plotting.save(figure, snakemake.output.svg, snakemake.output.png)
