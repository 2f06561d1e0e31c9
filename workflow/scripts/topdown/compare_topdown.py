"""Measure the Bureau's errors and exact integer noise as TopDown's, and what invariants do."""

from reproduction.running.jobs import job_log
from isdp.io.files import read_json, write_csv
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.running.tables import write_table
from reproduction.topdown.bureau import VINTAGE, bureau_counts
from reproduction.topdown.systems import other_runs, with_and_without

with job_log(snakemake.log[0]) as log:
    params, given = snakemake.params, snakemake.input
    published = read_published(given.published)
    histogram = read_histogram(given.histogram, published)
    provenance = read_json(given.provenance)
    local = next(iter(given.get("local", [])), None)
    private = bureau_counts(provenance, local, params.cache, published, histogram)
    if private is None:
        log.info("no demonstration data of vintage %s: the Bureau's errors are left out", VINTAGE)
    found = other_runs(params.seed, histogram, **params.integer_noise, private=private)
    for kind, table in found.items():
        write_csv(table, snakemake.output[kind])
    invariants = with_and_without(params.seed, histogram, params.configurations)
    title = "TopDown with and without the states' totals held, from the same measurements"
    write_table(invariants, snakemake.output.invariants_csv, title)
