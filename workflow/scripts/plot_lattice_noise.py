"""Draw the noise of one experiment, a box plot a cell and a panel a law."""

from isdp import plotting
from isdp.experiment import describe
from isdp.files import read_csv
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    params = snakemake.params
    figure = plotting.cell_boxes(
        read_csv(snakemake.input.boxes),
        f"{snakemake.wildcards.experiment}: noise of each cell, {params.realisations} realisations",
        {law: describe(entry) for law, entry in params.laws.items()},
    )
    plotting.save(figure, snakemake.output.svg, snakemake.output.png)
