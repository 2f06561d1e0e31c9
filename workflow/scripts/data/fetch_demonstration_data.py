"""Obtain the demonstration data if available, and write one table of all counties."""

from isdp.io.files import write_csv, write_json
from reproduction.data.demonstration import build_county_table
from reproduction.data.fetch import obtain_demonstration, read_ledger
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log

with job_log(snakemake.log[0]) as log:
    published = read_published(snakemake.input.published)
    demonstration, provenance = obtain_demonstration(
        vintage=snakemake.params.vintage,
        local_file=next(iter(snakemake.input.get("local", [])), None),
        ledger=read_ledger(snakemake.input.ledger),
        cache=snakemake.params.cache,
        published=published,
    )
    log.info("%s", provenance["message"])
    write_csv(build_county_table(published, demonstration), snakemake.output.counties)
    write_json(snakemake.output.provenance, provenance)
