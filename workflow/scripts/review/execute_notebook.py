"""Execute a review notebook on the results, and export it as a page."""

from pathlib import Path

from isdp.io.files import write_atomically
from reproduction.jobs.job_log import job_log
from reproduction.jobs.origin import describe_origin
from reproduction.review.notebooks import execute_notebook, export_page

with job_log(snakemake.log[0]):
    source = snakemake.input
    executed = execute_notebook(source.notebook, Path(source.config).parent)
    made = describe_origin(Path(snakemake.scriptdir).resolve().parents[2], source.config)
    with write_atomically(snakemake.output.page) as temporary:
        temporary.write_text(export_page(executed, made))
