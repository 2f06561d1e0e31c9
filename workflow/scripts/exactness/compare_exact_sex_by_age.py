"""Draw tables of sex by age exactly under their constraints, and compare the chains with them."""

from isdp.io.draws import read_draws, write_draws
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from isdp.streams import stream
from reproduction.data.table_p12 import CELLS, sex_by_age_invariants
from reproduction.exactness.experiment import compare_distribution, draw_exactly
from reproduction.jobs.draws import label_draws
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv, write_tables

with job_log(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    counts = read_csv(snakemake.input.counts)["count"].to_numpy()
    mechanism, invariants = GeneralizedLaplace(params.epsilon), sex_by_age_invariants()
    rng = stream(params.seed, "exact sex by age")
    drawn = draw_exactly(rng, invariants, mechanism, CELLS, params.draws, lower=-counts)
    names = {"experiment": "sex_by_age", "law": "conditional", "sampler": "exact"}
    drawn = label_draws(drawn, study="congenial", **names, mechanism={"epsilon": params.epsilon})
    log.info("%s", drawn.settings)
    write_draws(output.draws, drawn)
    samples = {"mcmc": read_draws(snakemake.input.draws).noise_of(CELLS)}
    agreement, laws = compare_distribution(mechanism, drawn, samples)
    write_tables({"agreement": agreement, "laws": laws}, output)
