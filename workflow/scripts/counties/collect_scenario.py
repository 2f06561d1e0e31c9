"""Describe the noise of a scenario, and store its settings and the origin of its data."""

from pathlib import Path

import yaml

from isdp.io.files import read_json, write_atomically, write_json
from reproduction.counties.sweep_tables import describe_states, tabulate_scenario
from reproduction.jobs.draws import read_draws_by
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    files, output, settings = snakemake.input, snakemake.output, snakemake.params.settings
    name, provenance = Path(output.settings).parent.name, read_json(files.provenance)
    draws, counties = read_draws_by("unit", files.draws), read_csv(files.counties)
    tables = describe_states(settings, draws, counties)
    scenario = tabulate_scenario(name, settings, tables, counties, provenance)
    write_tables({**tables, "scenario": scenario}, output)
    write_json(output.provenance, provenance)
    with write_atomically(output.settings) as temporary:
        temporary.write_text(yaml.safe_dump(settings, sort_keys=False))
