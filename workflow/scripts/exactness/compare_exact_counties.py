"""Compare the chains of all states with exact draws, and follow their distance over the sweeps."""

import pandas as pd

from isdp.io.files import write_csv
from isdp.mechanisms.laplace import GeneralizedLaplace
from isdp.seeds import stream
from reproduction.exactness.experiment import (
    compare_law,
    follow_counties,
    pooled_shares,
    times_within,
)
from reproduction.running.draws import read_by
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs

with job_log(snakemake.log[0]):
    params, output, files = snakemake.params, snakemake.output, snakemake.input
    write_csv(read_csvs(files.noise), output.noise)
    write_csv(read_csvs(files.state), output.states)
    mechanism = GeneralizedLaplace(params.walk["epsilon"], params.walk["norm"])
    chains = read_by("unit", files.draws)
    agreement, pooled, curves = [], [], []
    for state, drawn in read_by("unit", files.exact).items():
        samples = {"mcmc": chains[state].noise_of(drawn.cells)}
        agreement.append(compare_law(mechanism, drawn, samples)[0])
        pooled.append(pooled_shares(state, {**samples, "exact": drawn.noise}, mechanism))
        curve = follow_counties(
            stream(params.seed, "distance counties", state),
            len(drawn.cells),
            drawn.noise,
            **params.walk,
            chains=params.chains,
            times=times_within(params.burn_in),
        )
        curves.append(curve.assign(state=state))
    write_csv(pd.concat(agreement), output.agreement)
    write_csv(pd.concat(pooled), output.shares)
    write_csv(pd.concat(curves), output.distances)
