"""Run the reviewing notebooks on the results, and make one page of each."""

import tempfile
from pathlib import Path

import yaml

from reproduction.running.jobs import job_log
from isdp.io.files import whole
from reproduction.review.notebooks import execute, pages
from reproduction.running.origin import made_by

with job_log(snakemake.log[0]), tempfile.TemporaryDirectory() as own:
    expected = Path(own) / "the config of this run"
    expected.write_text(yaml.safe_dump(snakemake.params.settings, sort_keys=False))
    results = Path(snakemake.input.config).parent
    executed = execute(snakemake.input.notebooks, results, expected)
    made = made_by(Path(snakemake.scriptdir).resolve().parents[2], snakemake.input.config)
    for text, output in zip(pages(executed, made), snakemake.output.pages, strict=True):
        with whole(output) as temporary:
            temporary.write_text(text)
