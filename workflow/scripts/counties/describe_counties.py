"""Diagnose and describe the noise of one state, from Markov chains and from exact draws."""

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
    mechanism = GeneralizedLaplace(**snakemake.params.mechanism)
    for key, draws in (("", files.draws), ("exact_", files.exact)):
        noise = read_draws(draws).noise_of(counties["fips"])
        diagnostics = convergence(noise)
        write_csv(noise_table(counties, noise, diagnostics), output[f"{key}noise"])
        write_csv(state_table(counties, noise, diagnostics, mechanism), output[f"{key}state"])
        write_csv(box_table(counties, noise), output[f"{key}boxes"])
        if not key:
            write_csv(rhat_table(counties, diagnostics), output.rhat)
