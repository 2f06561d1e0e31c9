"""Draw the figures of the comparison."""

from pathlib import Path

from isdp.plots.style import save
from reproduction.comparison import figures
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

DRAW = {
    "comparison_errors": figures.errors,
    "comparison_bias": figures.bias,
    "comparison_shares": figures.shares,
}

with job_log(snakemake.log[0]):
    for points, svg in zip(snakemake.input, snakemake.output.svg, strict=True):
        figure = DRAW[Path(svg).stem](read_csv(points))
        save(figure, svg, Path(svg).with_suffix(".png"))
