"""Put the runs of all systems together, in tables and figures."""

import pandas as pd

from reproduction.running.jobs import job_log
from isdp.accounting.conversions import CONVERSIONS
from isdp.io.files import write_csv
from isdp.plots.style import save
from reproduction.running.tables import read_csv, read_csvs, write_table
from reproduction.topdown import figures
from reproduction.topdown.settings import KINDS
from reproduction.topdown.tables import TITLES, collected

with job_log(snakemake.log[0]):
    given, output, shown = snakemake.input, snakemake.output, snakemake.params.shown
    kinds: dict[str, pd.DataFrame] = {kind: read_csvs(given[kind]) for kind in KINDS}
    tables = collected(kinds, snakemake.params.runs)
    for key, title in TITLES.items():
        write_table(tables[key], output[f"{key}_csv"], title)
    counties = kinds["counties"]
    counties = counties[counties["state"] == shown]
    noise = read_csv(given.noise)
    means = ["runs", "negative_slopes", "significant_slopes", "pooled_slope", "pooled_slope_error"]
    slopes = tables["slopes"].merge(tables["trend"][["system", *means]], on="system")
    drawn = {
        "bias": (figures.bias(tables["bias"]), tables["bias"]),
        "slopes": (figures.slopes(tables["slopes"], tables["trend"]), slopes),
        "counties": (figures.counties(counties, shown), counties),
        "swapping": (
            figures.swapping(tables["fingerprint"], tables["sizes"]),
            tables["fingerprint"].merge(
                tables["sizes"], on=["system", "group"], suffixes=("", "_of_size")
            ),
        ),
        "noise": (figures.noise(noise, list(CONVERSIONS)), noise),
    }
    for name, (figure, data) in drawn.items():
        save(figure, output[f"{name}_figure_svg"], output[f"{name}_figure_png"])
        write_csv(data, output[f"{name}_data"])
