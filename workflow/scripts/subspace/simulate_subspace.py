"""Repeat both examples: the campus, read in every way, and the counties of all states run."""

from functools import partial

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.running.tables import read_csv, write_table
from reproduction.subspace import wifi
from reproduction.subspace.counties import all_states

SECONDS = ["set_up_seconds", "draw_seconds"]

with job_log(snakemake.log[0]):
    params, output, settings = snakemake.params, snakemake.output, snakemake.params.campus
    rng = partial(stream, params.seed, "campus")
    campus = wifi.Campus(settings["buildings"], settings["groups"], settings["hours"])
    count = settings["repetitions"]
    whole = wifi.integer_table(rng("integer"), campus, 1.0, settings["integer_repetitions"])
    counties, boxes = all_states(
        partial(stream, params.seed, "subspace counties"),
        read_csv(snakemake.input.counties),
        read_csv(snakemake.input.states)["state"],
        params.epsilon,
        params.counties,
    )
    tables = {
        "campus_constraints": (wifi.constraint_table(campus), "Campus: constraints and variance"),
        "campus_laws": (
            wifi.exact_law_table(rng("laws"), campus, count, settings["exact_experiments"]),
            "Campus: two readings by their exact laws",
        ),
        "campus": (
            wifi.reading_table(rng("readings"), campus, count, settings["experiments"]),
            "Campus: what the printed numbers may be",
        ),
        "campus_integer": (whole.drop(columns=SECONDS), "Campus: integer noise on the same tables"),
        "counties": (counties, "Projected Laplace noise on the counties, by state"),
    }
    for key, (table, title) in tables.items():
        write_table(table, output[f"{key}_csv"], title)
    write_csv(whole[["sampler", "tables", *SECONDS]], output.speed)
    write_csv(boxes, output.boxes)
