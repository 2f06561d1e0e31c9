"""Measure the errors of the demonstration data, exact noise, and TopDown without invariants."""

from isdp.io.files import read_json
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.topdown.read_demonstration import VINTAGE, read_demonstration_counts
from reproduction.topdown.system_errors import compare_invariants, run_other_systems

with job_log(snakemake.log[0]) as log:
    params, given = snakemake.params, snakemake.input
    published = read_published(given.published)
    histogram = read_histogram(given.histogram, published)
    provenance = read_json(given.provenance)
    private = read_demonstration_counts(
        provenance, given.get("local") or None, params.cache, published, histogram
    )
    if private is None:
        log.info("no demonstration data of vintage %s. Their errors are left out.", VINTAGE)
    found = run_other_systems(params.seed, histogram, **params.integer_noise, private=private)
    found["invariants"] = compare_invariants(params.seed, histogram, params.runs)
    write_tables(found, snakemake.output)
