"""Describe the noise of one experiment under all its laws."""

import pandas as pd

from isdp.drawfile import read_draws
from isdp.experiment import mechanism_of
from isdp.files import write_csv, write_table
from isdp.lattices import box_table, noise_summary, norm_row
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    output, name = snakemake.output, snakemake.wildcards.experiment
    laws = snakemake.params.laws
    read = dict(zip(laws, map(read_draws, snakemake.input.draws), strict=True))
    # where no perfect sampler is practical, the file of exact draws is empty
    draws = {law: each for law, each in read.items() if each.noise.size}
    summary = pd.concat([noise_summary(law, each) for law, each in draws.items()])
    norms = [norm_row(law, each, mechanism_of(laws[law])) for law, each in draws.items()]
    write_table(summary, output.csv, f"Noise of each cell: {name}")
    write_csv(pd.concat([box_table(law, each) for law, each in draws.items()]), output.boxes)
    write_csv(pd.DataFrame(norms).assign(experiment=name), output.norms)
