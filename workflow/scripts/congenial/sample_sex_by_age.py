"""Draw releases of sex by age by the lattice walk and by the independence sampler."""

from reproduction.running.jobs import job_log
from isdp.io.draws import Draws, write_draws
from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.congenial.sex_by_age import (
    compare_samplers,
    held_cells,
    independence_sampler,
    lattice_walk,
    norm_table,
    place_release,
    release_table,
    trace_tables,
)
from reproduction.data.table_p12 import CELLS, sex_by_age_invariants, table_of
from reproduction.running.draws import labelled
from reproduction.running.tables import read_csv, write_table

with job_log(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    counts = read_csv(snakemake.input.counts)["count"].to_numpy()
    settings = {key: value for key, value in params.walk.items() if key != "proposal"}
    walk = lattice_walk(counts, params.epsilon, params.walk["proposal"])
    independence = independence_sampler(
        counts, params.epsilon, params.proposal_epsilon, params.solved
    )
    log.info("cells solved from the equalities, from 0: %s", independence.solved)
    compared, draws = compare_samplers(
        stream(params.seed, "sex by age", "samplers"),
        {"walk": (walk, settings), "independence": (independence, dict(params.independence))},
    )
    speeds = ["seconds", "effective_draws_per_second"]
    write_table(compared.drop(columns=speeds), output.chains_csv, "Sex by age: both samplers")
    write_csv(compared[["sampler", *speeds]], output.speed)
    write_csv(norm_table(draws), output.norms)
    noise = draws["walk"]
    held = Draws(noise, sex_by_age_invariants(), CELLS, dict(params.walk))
    names = {"experiment": "sex_by_age", "law": "conditional", "sampler": "mcmc"}
    kept = labelled(held, wing="congenial", **names, mechanism={"epsilon": params.epsilon})
    write_draws(output.draws, kept)
    table = release_table(counts, counts + noise[0, -1])
    title = "Sex by age: the confidential table and one release (held sums in bold)"
    write_table(table, output.release_csv, title, bold=held_cells(table))
    printed = None if params.printed is None else table_of(params.printed)
    place = place_release(counts, printed, noise)
    write_table(place, output.printed_csv, "Sex by age: the release that the paper prints")
    trace = dict(params.trace)
    paper = trace.pop("paper")
    traces, summary, spread = trace_tables(
        stream(params.seed, "sex by age", "trace"),
        counts,
        independence,
        paper={} if params.printed is None else paper,
        **trace,
    )
    write_csv(traces, output.traces)
    write_table(summary, output.trace_csv, "Sex by age: two cells of one chain")
    write_table(spread, output.spread_csv, "Sex by age: chains of that length")
