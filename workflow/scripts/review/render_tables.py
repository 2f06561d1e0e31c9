"""Render CSV tables as Markdown and HTML, with the meaning of each column."""

from pathlib import Path

from reproduction.review.tables import render_table
from reproduction.running.descriptions import read_descriptions
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    descriptions = read_descriptions(snakemake.params.descriptions)
    for path in map(Path, snakemake.input):
        columns = descriptions.columns_of("tables", path.stem, read_csv(path).columns)
        render_table(path, descriptions.title_of("tables", path.stem), columns)
