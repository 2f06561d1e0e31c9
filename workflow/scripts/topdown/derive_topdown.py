"""Compute what the slides say of noise and of implied constraints."""

from functools import partial

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.data.histogram import read_group_quarters
from reproduction.data.published import read_published
from reproduction.running.tables import write_table
from reproduction.topdown import cuts, dormitories, failsafe, implied, noise

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    settings = params.implied
    counties, people = read_group_quarters(
        snakemake.input.group_quarters, read_published(snakemake.input.published)
    )
    if settings["states"] != "all":
        some = counties["state"].isin(settings["states"]).to_numpy()
        counties, people = counties[some].reset_index(drop=True), people[some]

    rng = partial(stream, params.seed, "topdown")
    tables = {
        "noise": (noise.noise_table(), "Variance of an identity query"),
        "conversions": (
            noise.conversion_table(),
            "Up to which epsilon the Gaussian variance is the smaller one",
        ),
        "tails": (noise.tail_table(), "Tails of the slides' two laws, epsilon = 1"),
        "dormitories": (dormitories.dormitory_table(), "Dormitories: whole totals allowed"),
        "naive": (
            dormitories.naive_table(rng("naive"), **settings["naive"]),
            "Dormitories: releases that no regions can make",
        ),
        "regions": (implied.region_table(), "Regions A and B"),
        "witness": (dormitories.witness_table(), "Margins met by fractions and by no whole table"),
        "implied": (
            implied.group_quarters_table(counties, people),
            "Bounds on kinds of group quarters that the counties imply",
        ),
        "cuts": (
            cuts.cuts_table(params.seed, **settings["cuts"]),
            "Bounds on 28 kinds of group quarters, found as they are needed",
        ),
        "unimodular": (
            implied.unimodular_table(rng("unimodular")),
            "Which constraints are totally unimodular",
        ),
        "failsafe": (
            failsafe.failsafe_table(rng("failsafe"), counties, people, **settings["failsafe"]),
            "Without the implied constraints: how often the failsafe fires, and what it costs",
        ),
    }
    for key, (table, title) in tables.items():
        write_table(table, output[f"{key}_csv"], title)
    write_csv(tables["noise"][0], output.noise_data)
