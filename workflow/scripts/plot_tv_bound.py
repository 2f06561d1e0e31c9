"""Draw the bounds on the distance to the target, of one law or of all laws of an experiment."""

import pandas as pd

from isdp import plotting
from isdp.experiment import describe
from isdp.files import read_csvs, write_csv
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    params = snakemake.params
    curves = read_csvs(snakemake.input.curves)
    distances = read_csvs(snakemake.input.distances)
    figure = plotting.tv_bounds(
        curves,
        read_csvs(snakemake.input.trails),
        distances,
        f"{snakemake.wildcards.experiment}: distance of the chain from its target, "
        f"{params.runs} coupled chains for each lag",
        {law: describe(entry) for law, entry in params.laws.items()},
    )
    plotting.save(figure, snakemake.output.svg, snakemake.output.png)
    actual = distances.rename(columns={"distance": "actual_distance"})
    write_csv(pd.concat([curves, actual]), snakemake.output.data)
