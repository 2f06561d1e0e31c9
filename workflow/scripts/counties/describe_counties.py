"""Diagnose, describe and draw one state's noise, from chains and from exact draws."""

from reproduction.running.jobs import job_log
from isdp.diagnostics.chains import convergence
from isdp.io.draws import read_draws
from isdp.io.files import read_json, write_csv
from isdp.mechanisms.laplace import GeneralizedLaplace
from isdp.plots.style import save
from reproduction.counties.experiment import box_table, noise_table, rhat_table, state_table
from reproduction.counties.figures import county_boxes
from reproduction.counties.states import counties_of
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    state = snakemake.wildcards.state
    counties = counties_of(read_csv(files.counties), state)
    vintage = read_json(files.provenance)["vintage"]
    mechanism = GeneralizedLaplace(params.epsilon, params.norm)
    for key, draws, made in (
        ("", files.draws, f"{params.chains} x {params.draws} draws"),
        ("exact_", files.exact, f"{params.chains * params.draws} exact draws"),
    ):
        noise = read_draws(draws).noise_of(counties["fips"])
        diagnostics, boxes = convergence(noise), box_table(counties, noise)
        write_csv(noise_table(counties, noise, diagnostics), output[f"{key}noise"])
        write_csv(state_table(counties, noise, diagnostics, mechanism), output[f"{key}state"])
        write_csv(boxes, output[f"{key}boxes"])
        if not key:
            write_csv(rhat_table(counties, diagnostics), output.rhat)
        title = (
            f"{state}: noise in county totals under the state's total, {params.norm} generalized "
            f"Laplace, epsilon = {params.epsilon:g}, {made}"
        )
        save(county_boxes(boxes, title, vintage), output[f"{key}svg"], output[f"{key}png"])
