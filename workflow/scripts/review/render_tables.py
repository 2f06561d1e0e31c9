"""Render CSV tables as Markdown and HTML, with the meaning of each column."""

from pathlib import Path

from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.review.tables import render_table

with job_log(snakemake.log[0]):
    descriptions = read_descriptions(snakemake.params.descriptions)
    for path in map(Path, snakemake.input):
        columns = descriptions.columns_of("tables", path.stem, read_csv(path).columns)
        render_table(path, descriptions.title_of("tables", path.stem), columns)
