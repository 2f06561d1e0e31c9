"""Execute a review notebook on the results, and export it as a page."""

import tempfile
from pathlib import Path

import yaml

from isdp.io.files import whole
from reproduction.review.notebooks import execute, page
from reproduction.running.jobs import job_log
from reproduction.running.origin import made_by

with job_log(snakemake.log[0]), tempfile.TemporaryDirectory() as own:
    expected = Path(own) / "the config of this run"
    expected.write_text(yaml.safe_dump(snakemake.params.settings, sort_keys=False))
    results = Path(snakemake.input.config).parent
    executed = execute(snakemake.input.notebook, results, expected)
    made = made_by(Path(snakemake.scriptdir).resolve().parents[2], snakemake.input.config)
    with whole(snakemake.output.page) as temporary:
        temporary.write_text(page(executed, made))
