"""Compare methods by the distances of their releases from the confidential tables."""

from isdp.seeds import stream
from reproduction.congenial.sex_by_age import confidential_tables, distances, median_table
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    params, settings = snakemake.params, snakemake.params.distances
    rng = stream(params.seed, "sex by age", "distances")
    counts = read_csv(snakemake.input.counts)["count"].to_numpy()
    means, mixing = distances(
        rng,
        confidential_tables(rng, settings, None if params.simulated else counts),
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
    write_tables({"means": means, "medians": medians, "mixing": mixing}, snakemake.output)
