"""Write every claim with its evidence, and the identity of the run."""

from pathlib import Path

import jsonschema

from isdp.io.files import read_json, write_json
from reproduction.jobs.job_log import job_log
from reproduction.jobs.origin import find_origin
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.claims_file import FORMAT

with job_log(snakemake.log[0]):
    source = snakemake.input
    run = find_origin(Path(snakemake.scriptdir).resolve().parents[2], source.config)
    run["seed"] = read_yaml(source.config)["seed"]
    run["data"] = read_json(source.provenance)["vintage"]
    content = {"format": FORMAT, "run": run, "claims": read_json(source.evidence)}
    jsonschema.validate(content, read_json(source.schema))
    write_json(snakemake.output.claims, content)
