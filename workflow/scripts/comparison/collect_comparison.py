"""Put all systems side by side: the Bureau's file where it is there, tables, figures."""

from reproduction.running.jobs import job_log
from isdp.io.files import read_json, write_csv
from isdp.plots.style import save
from reproduction.comparison import figures
from reproduction.comparison.experiment import SWAPPED, areas_of, bureau
from reproduction.comparison.systems import bureau_rho
from reproduction.comparison.tables import TITLES, collected, cost_table, guarantee_table
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.running.tables import read_csvs, write_table
from reproduction.topdown.bureau import VINTAGE, bureau_counts
from reproduction.topdown.experiment import only_states

with job_log(snakemake.log[0]) as log:
    params, given, output = snakemake.params, snakemake.input, snakemake.output
    settings = params.comparison
    published = read_published(given.published)
    histogram = read_histogram(given.histogram, published)
    kinds = {kind: [read_csvs(given[kind])] for kind in ("errors", "shares", "summary")}
    provenance = read_json(given.provenance)
    local = next(iter(given.get("local", [])), None)
    private = bureau_counts(provenance, local, params.cache, published, histogram)
    histogram = only_states(histogram, settings["states"])
    if private is None:
        log.info("no demonstration data of vintage %s: the Bureau's file is left out", VINTAGE)
    else:
        private = only_states(private, settings["states"])
        found = bureau(histogram, private, float(bureau_rho()), settings["swapped"])
        for kind, tables in kinds.items():
            tables.append(found[kind])
    tables = collected(kinds)
    tables["cost"] = cost_table(read_csvs(given.cost))
    swapped = areas_of(only_states(histogram, settings["swapped"]))
    tables["guarantees"] = guarantee_table(areas_of(histogram), swapped, settings)
    for key, title in TITLES.items():
        write_table(tables[key], output[f"{key}_csv"], title)
    chosen = settings["shown"] | {"rho": float(bureau_rho())}
    drawn = {
        "errors": (
            figures.errors(tables["errors"], tables["shares"], SWAPPED),
            figures.error_points(tables["errors"], tables["shares"], SWAPPED),
        ),
        "bias": (
            figures.bias(tables["errors"], chosen, SWAPPED),
            figures.bias_points(tables["errors"], chosen, SWAPPED),
        ),
        "shares": (
            figures.shares(tables["shares"], chosen, SWAPPED),
            figures.share_points(tables["shares"], chosen, SWAPPED),
        ),
    }
    for name, (figure, data) in drawn.items():
        save(figure, output[f"{name}_figure_svg"], output[f"{name}_figure_png"])
        write_csv(data, output[f"{name}_data"])
