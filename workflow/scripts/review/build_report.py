"""Build the Snakemake report of all results of the workflow."""

import subprocess
import sys
from pathlib import Path

from isdp.io.files import read_json, write_atomically
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.job_log import job_log
from reproduction.jobs.origin import describe_origin
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.report_captions import fill_overview, write_captions

with job_log(snakemake.log[0]) as log, write_atomically(snakemake.output.report) as temporary:
    source, captions = snakemake.input, Path(snakemake.params.captions)
    descriptions = read_descriptions(source.descriptions)
    shown = Path(source.shown).read_text().split()
    write_captions(descriptions, shown, captions)
    text = fill_overview(
        Path(source.overview).read_text(),
        read_yaml(source.config),
        read_json(source.provenance),
        descriptions,
        shown,
        describe_origin(Path(snakemake.scriptdir).resolve().parents[2], source.config),
    )
    (captions / "workflow.rst").write_text(text)
    temporary.unlink()
    command = [sys.executable, "-m", "snakemake", "--nolock", "everything"]
    command += ["--snakefile", snakemake.params.snakefile]
    command += ["--configfile", source.config, "--report", str(temporary)]
    command += ["--report-stylesheet", source.stylesheet]
    done = subprocess.run(command, capture_output=True, text=True)
    log.info("%s", done.stdout + done.stderr)
    # Snakemake exits with status 0 even if docutils cannot parse a caption
    if done.returncode or "(ERROR/" in done.stderr or "(WARNING/" in done.stderr:
        raise RuntimeError(f"report.html: Snakemake could not build it:\n{done.stderr}")
