"""Diagnose and describe the noise of a scenario's states; keep its settings and data's origin."""

import pandas as pd
import yaml

from reproduction.running.jobs import job_log
from isdp.diagnostics.chains import convergence
from isdp.io.files import read_json, whole, write_json
from isdp.mechanisms.laplace import GeneralizedLaplace
from reproduction.counties.experiment import noise_table, rhat_table, state_table
from reproduction.counties.states import counties_of
from reproduction.counties.sweep import scenario_table
from reproduction.running.draws import read_by
from reproduction.running.tables import read_csv, write_table

with job_log(snakemake.log[0]):
    settings, output = snakemake.params.settings, snakemake.output
    name, table = snakemake.wildcards.scenario, read_csv(snakemake.input.counties)
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
    write_table(rhat, output.rhat, f"Convergence, {name}")
    write_table(noise, output.noise, f"Noise of every county, {name}")
    write_table(states, output.states, f"The states at a glance, {name}")
    write_table(scenario, output.scenario, f"Scenario {name}")
    write_json(output.provenance, provenance)
    with whole(output.settings) as temporary:
        temporary.write_text(yaml.safe_dump(settings, sort_keys=False))
