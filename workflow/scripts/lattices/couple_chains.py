"""Couple chains of each variant, and bound their distance to the target."""

import pandas as pd

from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.lattices.convergence import bound_curves, couple, meeting_table
from reproduction.lattices.entry import build, walk_of
from reproduction.running.jobs import job_log

with job_log(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    experiment, law = snakemake.wildcards.experiment, snakemake.wildcards.law
    built = build(params.entry)
    curves, trails, meetings, seconds = [], [], [], []
    for variant in params.variants:
        walk = walk_of(built, params.law, params.variants, variant)
        rng = stream(params.seed, f"coupling {experiment}", f"{law} {variant}")
        times, trail = couple(rng, walk, **params.coupling)
        names = {"experiment": experiment, "law": law, "variant": variant}
        table = meeting_table(times, params.coupling["cap"])
        chosen = table["lag"] == trail["lag"][trail["chosen"]].iloc[0]
        meetings.append(table.assign(**names, chosen=chosen))
        curves.append(bound_curves(times).assign(**names))
        trails.append(trail.assign(**names))
        seconds += [{**names, "lag": each.lag, "seconds": each.seconds} for each in times]
        log.info("%s: lags %s", variant, table["lag"].tolist())
    write_csv(pd.concat(curves), output.curves)
    write_csv(pd.concat(trails), output.trails)
    write_csv(pd.concat(meetings), output.meetings)
    write_csv(pd.DataFrame(seconds), output.seconds)
