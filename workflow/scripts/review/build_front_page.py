"""Write the front page of the results, and one page per paper."""

from pathlib import Path

from isdp.io.files import read_json, write_atomically
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.job_log import job_log
from reproduction.jobs.origin import describe_origin
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.claims import list_claims, list_paper_figures
from reproduction.review.frontpage import render_front_page, render_paper
from reproduction.review.notebook_results import open_results

with job_log(snakemake.log[0]):
    source = snakemake.input
    claims = list_claims(source.notebooks)
    descriptions = read_descriptions(source.descriptions)
    entries = list_paper_figures(descriptions, claims)
    results = open_results(Path(source.config).parent)
    titles = {Path(path).stem: read_json(path)["metadata"]["title"] for path in source.notebooks}
    made_by = describe_origin(Path(snakemake.scriptdir).resolve().parents[2], source.config)
    departures = results.departures(read_yaml(source.usual))
    pages = {
        snakemake.output.page: render_front_page(
            results, claims, entries, source, titles, made_by, departures
        )
    }
    for path in snakemake.output.papers:
        pages[path] = render_paper(
            Path(path).stem, results, claims, entries, source, titles, descriptions
        )
    for path, text in pages.items():
        with write_atomically(path) as temporary:
            temporary.write_text(text)
