"""Compare methods by the distances of their releases from the confidential tables."""

import numpy as np

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.congenial.sex_by_age import distances, median_table, simulated_tables
from reproduction.running.tables import read_csv, write_table

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    settings = params.distances
    rng = stream(params.seed, "sex by age", "distances")
    if params.simulated:
        drawing = (settings["tables"], settings["successes"], settings["failure"])
        tables = simulated_tables(rng.spawn(1)[0], *drawing)
    else:
        counts = read_csv(snakemake.input.counts)["count"].to_numpy()
        tables = np.tile(counts, (settings["tables"], 1))
    means, mixing = distances(
        rng,
        tables,
        releases=settings["releases"],
        raw_epsilon=settings["raw_epsilon"],
        epsilon=params.epsilon,
        proposal_epsilon=params.proposal_epsilon,
        solved=params.solved,
        walk=settings["walk"],
        unmixed=settings["unmixed"],
    )
    medians = median_table(
        means,
        settings["paper"] if params.simulated else {},
        settings["paper_tables"],
        {"raw": settings["raw_epsilon"], "raw_half": params.epsilon},
    )
    write_csv(means, output.data)
    write_table(medians, output.medians_csv, "Sex by age: medians over the tables")
    write_table(mixing, output.mixing_csv, "Sex by age: the conditional releases' chains")
