"""Draw projected Laplace noise for the counties of the figure's state and of all states run."""

import pandas as pd

from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_table
from reproduction.subspace.counties import ranked, run_table, state_runs, state_table

with job_log(snakemake.log[0]):
    params, settings = snakemake.params, snakemake.params.counties
    counties, shown = read_csv(snakemake.input.counties), settings["state"]
    states = [shown, *read_csv(snakemake.input.states)["state"]]
    rows, boxes = [], []
    for state in dict.fromkeys(states):
        place = ranked(counties, state)
        runs_rng, slopes_rng = stream(params.seed, "subspace counties", state).spawn(2)
        drawn = state_runs(runs_rng, place, params.epsilon, settings["scales"], settings["runs"])
        row = state_table(slopes_rng, place, drawn, params.epsilon, settings["slope_runs"])
        rows.append(row.assign(state=state, shown=state == shown))
        if state == shown:
            for scale, noise in drawn.items():
                runs = run_table(noise, place["population"], place["county"])
                errors = dict(zip(place["county"], place["das_error"], strict=True))
                boxes.append(runs.assign(scale=scale, das_error=runs["county"].map(errors)))
    table = pd.concat(rows, ignore_index=True)
    table = table[["state", "shown", *table.columns.drop(["state", "shown"])]]
    write_table(table, snakemake.output.csv, "Projected Laplace noise on the counties, by state")
    write_csv(pd.concat(boxes, ignore_index=True), snakemake.output.boxes)
