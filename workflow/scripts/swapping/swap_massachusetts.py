"""Massachusetts in 1940: the printed swap against its law, and simulated swaps by rate."""

import numpy as np

from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_table
from reproduction.swapping.households import scenarios
from reproduction.swapping.massachusetts import (
    all_runs,
    counties_table,
    fit_by_rate,
    fit_table,
    printed_errors,
    summary,
    unmixed_table,
)
from reproduction.swapping.printed import read_massachusetts

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    table = read_massachusetts(snakemake.input.massachusetts)
    households = scenarios(table, snakemake.input.get("households") or None)
    runs = all_runs(stream(params.seed, "swapping", "runs"), households, params.rates, params.runs)
    errors, counties = printed_errors(table), counties_table(table, households)
    unmixed = unmixed_table(table)
    tables = {
        "massachusetts": counties,
        "fit": fit_table(table, households),
        "mape": summary(runs, households, errors["mape"].iloc[0]),
        "printed": errors,
        "unmixed": unmixed,
    }
    for name, title in params.titles.items():
        write_table(tables[name], output[f"{name}_csv"], title)
    write_csv(runs, output.mape_figure)
    write_csv(counties, output.massachusetts_figure)
    write_csv(unmixed, output.unmixed_figure)
    rates = np.linspace(0.47, 0.53, 61)
    write_csv(fit_by_rate(table, households, rates), output.rate_figure)
