"""Follow the actual distance of each variant's chain from its target, under every law."""

import pandas as pd

from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.exactness.experiment import bound_at_chosen_lag, follow_lattice
from reproduction.lattices.entry import build, walk_of
from reproduction.running.draws import read_by
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs

with job_log(snakemake.log[0]):
    params, files, name = snakemake.params, snakemake.input, snakemake.wildcards.experiment
    experiment, exact = build(params.entry), read_by("law", files.exact)
    curves, meetings = read_csvs(files.curves), read_csvs(files.meetings)
    parts = []
    for law, entry in params.laws.items():
        for variant in params.variants:
            names = {"experiment": name, "law": law, "variant": variant}
            bound, censored = bound_at_chosen_lag(curves, meetings, law, variant)
            followed = follow_lattice(
                stream(params.seed, f"distance {name}", f"{law} {variant}"),
                walk_of(experiment, entry, params.variants, variant),
                exact[law],
                bound,
                **params.following,
            )
            parts.append(followed.assign(**names, censored=censored))
    write_csv(pd.concat(parts), snakemake.output.distances)
