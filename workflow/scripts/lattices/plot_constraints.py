"""Draw which records each constraint counts."""

import pandas as pd

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.plots.constraints import constraints_diagram
from isdp.plots.style import save
from reproduction.lattices.entry import build

with job_log(snakemake.log[0]):
    entry = snakemake.params.entry
    constraints = {name: [str(i) for i in held] for name, held in entry["constraints"].items()}
    figure = constraints_diagram(constraints, build(entry).cells)
    save(figure, snakemake.output.svg, snakemake.output.png)
    pairs = [(name, record) for name, held in constraints.items() for record in held]
    write_csv(pd.DataFrame(pairs, columns=["constraint", "record"]), snakemake.output.data)
