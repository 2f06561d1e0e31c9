"""Diagnose and describe one state's noise."""

from isdp.counties import box_table, counties_of, noise_table, rhat_table, state_table
from isdp.diagnostics import convergence
from isdp.drawfile import read_draws
from isdp.files import read_csv, write_csv
from isdp.logs import job_log
from isdp.mechanisms import GeneralizedLaplace

with job_log(snakemake.log[0]):
    counties = counties_of(read_csv(snakemake.input.counties), snakemake.wildcards.state)
    noise = read_draws(snakemake.input.draws).noise
    mechanism = GeneralizedLaplace(snakemake.params.epsilon, snakemake.params.norm)
    diagnostics = convergence(noise)
    write_csv(rhat_table(counties, diagnostics), snakemake.output.rhat)
    write_csv(noise_table(counties, noise, diagnostics), snakemake.output.noise)
    write_csv(state_table(counties, noise, diagnostics, mechanism), snakemake.output.state)
    write_csv(box_table(counties, noise), snakemake.output.boxes)
