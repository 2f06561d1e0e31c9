"""Measure the acceptance rate of the independence sampler by its proposal parameter."""

from isdp.io.draws import read_draws
from isdp.seeds import stream
from reproduction.congenial.sex_by_age import acceptance_table, spread_draws
from reproduction.data.table_p12 import CELLS
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    params, settings = snakemake.params, snakemake.params.acceptance
    printed = zip(settings["proposal_epsilons"], settings["paper"], strict=True)
    rates = acceptance_table(
        stream(params.seed, "sex by age", "acceptance"),
        read_csv(snakemake.input.counts)["count"].to_numpy(),
        epsilon=params.epsilon,
        proposal_epsilons=settings["proposal_epsilons"],
        solved=params.solved,
        chains=settings["chains"],
        iterations=settings["iterations"],
        starts=spread_draws(read_draws(snakemake.input.draws).noise_of(CELLS), settings["chains"]),
        paper=dict(printed) if params.of_paper else {},
    )
    write_tables({"acceptance": rates, "acceptance_points": rates}, snakemake.output)
