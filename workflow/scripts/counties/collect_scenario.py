"""Diagnose and describe the noise of a scenario's states; keep its settings and data's origin."""

from pathlib import Path

import pandas as pd
import yaml

from isdp.diagnostics.chains import convergence
from isdp.io.files import read_json, whole, write_csv, write_json
from isdp.mechanisms.laplace import GeneralizedLaplace
from reproduction.counties.experiment import noise_table, rhat_table, state_table
from reproduction.counties.states import counties_of
from reproduction.counties.sweep import scenario_table
from reproduction.running.draws import read_by
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    settings, output = snakemake.params.settings, snakemake.output
    name, table = Path(output.settings).parent.name, read_csv(snakemake.input.counties)
    provenance = read_json(snakemake.input.provenance)
    mechanism = GeneralizedLaplace(settings["counties"]["epsilon"], settings["counties"]["norm"])
    parts = []
    for state, draws in read_by("unit", snakemake.input.draws).items():
        counties = counties_of(table, state)
        noise = draws.noise_of(counties["fips"])
        diagnostics = convergence(noise)
        parts.append(
            (
                rhat_table(counties, diagnostics),
                noise_table(counties, noise, diagnostics),
                state_table(counties, noise, diagnostics, mechanism),
            )
        )
    rhat, noise, states = (
        pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True)
    )
    scenario = scenario_table(name, settings, states, noise, table, provenance)
    write_csv(rhat, output.rhat)
    write_csv(noise, output.noise)
    write_csv(states, output.states)
    write_csv(scenario, output.scenario)
    write_json(output.provenance, provenance)
    with whole(output.settings) as temporary:
        temporary.write_text(yaml.safe_dump(settings, sort_keys=False))
