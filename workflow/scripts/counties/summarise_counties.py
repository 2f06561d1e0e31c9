"""Diagnose and describe one state's noise, from chains and from exact draws."""

from isdp.diagnostics.chains import convergence
from isdp.io.draws import read_draws
from isdp.io.files import write_csv
from isdp.mechanisms.laplace import GeneralizedLaplace
from reproduction.counties.experiment import box_table, noise_table, rhat_table, state_table
from reproduction.counties.states import counties_of
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    files, output = snakemake.input, snakemake.output
    counties = counties_of(read_csv(files.counties), snakemake.wildcards.state)
    mechanism = GeneralizedLaplace(snakemake.params.epsilon, snakemake.params.norm)
    for draws, noise_csv, state_csv, boxes_csv in (
        (files.draws, output.noise, output.state, output.boxes),
        (files.exact, output.exact_noise, output.exact_state, output.exact_boxes),
    ):
        noise = read_draws(draws).noise_of(counties["fips"])
        diagnostics = convergence(noise)
        write_csv(noise_table(counties, noise, diagnostics), noise_csv)
        write_csv(state_table(counties, noise, diagnostics, mechanism), state_csv)
        write_csv(box_table(counties, noise), boxes_csv)
        if draws == files.draws:
            write_csv(rhat_table(counties, diagnostics), output.rhat)
