"""Compare methods by the distance between their releases and the confidential tables."""

from isdp.streams import stream
from reproduction.congenial.sex_by_age import (
    draw_confidential_tables,
    measure_distances,
    tabulate_medians,
)
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    rng = stream(snakemake.params.seed, "sex by age", "distances")
    counts = read_csv(snakemake.input.counts)["count"].to_numpy()
    settings = snakemake.params.settings
    means, mixing = measure_distances(
        rng, draw_confidential_tables(rng, counts, settings), settings
    )
    medians = tabulate_medians(means, settings)
    write_tables({"means": means, "medians": medians, "mixing": mixing}, snakemake.output)
