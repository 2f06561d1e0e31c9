"""Write every claim with its evidence, and the identity of the run."""

from pathlib import Path

import jsonschema
import pandas as pd

from isdp.io.files import read_json, write_json
from reproduction.jobs.job_log import job_log
from reproduction.jobs.origin import find_origin
from reproduction.jobs.tables import read_tables, read_text
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.claims import list_claims
from reproduction.review.claims_file import describe_claims

with job_log(snakemake.log[0]):
    source = snakemake.input
    run = find_origin(Path(snakemake.scriptdir).resolve().parents[2], source.config)
    run["seed"] = read_yaml(source.config)["seed"]
    run["data"] = read_json(source.provenance)["vintage"]
    card = pd.concat([read_text(source.card), read_text(source.checks)])
    tables = read_tables([*source.tables, source.verified])
    content = describe_claims(list_claims(source.notebooks), card, tables, run)
    jsonschema.validate(content, read_json(source.schema))
    write_json(snakemake.output.claims, content)
