"""Put all scenarios of a sweep in one table and one figure."""

from reproduction.running.jobs import job_log
from reproduction.counties.scenarios import compare_scenarios

with job_log(snakemake.log[0]):
    compare_scenarios(
        snakemake.wildcards.sweep,
        snakemake.input.scenarios,
        **{name: snakemake.output[name] for name in ("csv", "data", "svg", "png")},
    )
