"""Summarize the runs of all systems, and the demonstration data where the run has them."""

from isdp.io.files import read_json
from reproduction.comparison.experiment import areas_of, bureau
from reproduction.comparison.systems import bureau_rho
from reproduction.comparison.tables import collected, cost_table, figure_points, guarantee_table
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs, write_tables
from reproduction.topdown.bureau import VINTAGE, bureau_counts
from reproduction.topdown.experiment import only_states

with job_log(snakemake.log[0]) as log:
    params, given = snakemake.params, snakemake.input
    settings = params.comparison
    published = read_published(given.published)
    histogram = read_histogram(given.histogram, published)
    kinds = {kind: [read_csvs(given[kind])] for kind in ("errors", "shares", "summary")}
    provenance = read_json(given.provenance)
    private = bureau_counts(
        provenance, given.get("local") or None, params.cache, published, histogram
    )
    histogram = only_states(histogram, settings["states"])
    if private is None:
        log.info("no demonstration data of vintage %s: their errors are left out", VINTAGE)
    else:
        private = only_states(private, settings["states"])
        found = bureau(histogram, private, float(bureau_rho()), settings["swapped"])
        for kind, tables in kinds.items():
            tables.append(found[kind])
    tables = collected(kinds)
    swapped = areas_of(only_states(histogram, settings["swapped"]))
    tables["guarantees"] = guarantee_table(areas_of(histogram), swapped, settings)
    tables["cost"] = cost_table(read_csvs(given.cost))
    tables |= figure_points(tables["errors"], tables["shares"], settings["shown"])
    write_tables(tables, snakemake.output)
