"""Describe the noise of one state, both from Markov chains and from exact draws."""

from isdp.io.draws import read_draws
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from reproduction.counties.experiment import describe_noise, tabulate_boxes
from reproduction.data.published import select_counties
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    counties = select_counties(read_csv(snakemake.input.counties), snakemake.wildcards.state)
    mechanism = GeneralizedLaplace(**snakemake.params.mechanism)
    noise, exact = (
        read_draws(snakemake.input[key]).noise_of(counties["fips"]) for key in ("draws", "exact")
    )
    tables = describe_noise(counties, noise, mechanism) | {"boxes": tabulate_boxes(counties, noise)}
    of_exact = describe_noise(counties, exact, mechanism) | {
        "boxes": tabulate_boxes(counties, exact)
    }
    tables |= {f"exact_{key}": of_exact[key] for key in ("noise", "state", "boxes")}
    write_tables(tables, snakemake.output)
