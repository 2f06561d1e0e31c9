"""Write the front page of the results."""

from pathlib import Path

from isdp.io.files import read_json, write_atomically
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.job_log import job_log
from reproduction.jobs.origin import describe_origin
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.claims import list_claims, list_paper_figures
from reproduction.review.frontpage import render_front_page
from reproduction.review.notebook_results import open_results

with job_log(snakemake.log[0]):
    source = snakemake.input
    claims = list_claims(source.notebooks)
    descriptions = read_descriptions(source.descriptions)
    results = open_results(Path(source.config).parent)
    text = render_front_page(
        results,
        claims,
        list_paper_figures(descriptions, claims),
        source,
        {Path(path).stem: read_json(path)["metadata"]["title"] for path in source.notebooks},
        describe_origin(Path(snakemake.scriptdir).resolve().parents[2], source.config),
        results.departures(read_yaml(source.usual)),
        descriptions,
    )
    with write_atomically(snakemake.output.page) as temporary:
        temporary.write_text(text)
