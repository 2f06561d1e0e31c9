"""Draw releases of sex by age by the lattice walk and by the independence sampler."""

from isdp.io.draws import Draws, write_draws
from isdp.seeds import stream
from reproduction.congenial.sex_by_age import sample_tables
from reproduction.data.table_p12 import CELLS, sex_by_age_invariants
from reproduction.running.draws import labelled
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_tables

with job_log(snakemake.log[0]):
    settings, output = snakemake.params.settings, snakemake.output
    counts = read_csv(snakemake.input.counts)["count"].to_numpy()
    rng = stream(snakemake.params.seed, "sex by age", "samplers")
    tables, noise = sample_tables(rng, counts, settings)
    write_tables(tables, output)
    draws = Draws(noise, sex_by_age_invariants(), CELLS, dict(settings["walk"]))
    names = {"experiment": "sex_by_age", "law": "conditional", "sampler": "mcmc"}
    mechanism = {"epsilon": settings["epsilon"]}
    write_draws(output.draws, labelled(draws, wing="congenial", **names, mechanism=mechanism))
