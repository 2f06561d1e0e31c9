"""Read the confidential table of sex by age, and draw releases with two samplers."""

import pandas as pd

from isdp.io.draws import Draws, write_draws
from isdp.streams import stream
from reproduction.congenial.sex_by_age import sample_tables
from reproduction.data.table_p12 import CELLS, build_table, read_p12, sex_by_age_invariants
from reproduction.jobs.draws import label_draws
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables

with job_log(snakemake.log[0]) as log:
    settings, output = snakemake.params.settings, snakemake.output
    if settings["file"]:
        counts, county = read_p12(snakemake.input.file, settings["county"])
        log.info("Table P12 of %s from %s", county, snakemake.input.file)
    else:
        counts = build_table(settings["counts"])
    rng = stream(snakemake.params.seed, "sex by age", "samplers")
    tables, noise = sample_tables(rng, counts, settings)
    tables["counts"] = pd.DataFrame({"cell": CELLS, "count": counts})
    write_tables(tables, output)
    draws = Draws(noise, sex_by_age_invariants(), CELLS, dict(settings["walk"]))
    names = {"experiment": "sex_by_age", "law": "conditional", "sampler": "mcmc"}
    mechanism = {"epsilon": settings["epsilon"]}
    write_draws(output.draws, label_draws(draws, study="congenial", **names, mechanism=mechanism))
