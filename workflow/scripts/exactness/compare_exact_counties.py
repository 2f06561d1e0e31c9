"""Lay the chains of all states over exact draws, and follow how fast they get there."""

import pandas as pd

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.mechanisms.laplace import GeneralizedLaplace
from isdp.plots.style import save
from isdp.seeds import stream
from reproduction.exactness.experiment import (
    compare_law,
    follow_counties,
    pooled_shares,
    times_within,
)
from reproduction.exactness.figures import county_distances, county_laws
from reproduction.running.draws import read_by
from reproduction.running.tables import read_csvs, write_table

with job_log(snakemake.log[0]):
    params, output, files = snakemake.params, snakemake.output, snakemake.input
    write_table(read_csvs(files.noise), output.noise_csv, "Noise of every county, exact draws")
    states_table = read_csvs(files.state)
    write_table(states_table, output.states_csv, "County noise, exact draws: the states")
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
    agreement, pooled, curves = map(pd.concat, (agreement, pooled, curves))
    write_csv(agreement, output.agreement)
    write_csv(pooled, output.laws_data)
    write_csv(curves, output.distance_data)
    settings = f"{params.walk['norm']}, epsilon = {params.walk['epsilon']:g}"
    figure = county_laws(
        pooled, agreement, f"Noise of all counties of each state ({settings}), over exact draws"
    )
    save(figure, output.laws_svg, output.laws_png)
    figure = county_distances(
        curves, f"{params.chains} chains of each state from over-dispersed starts ({settings})"
    )
    save(figure, output.distance_svg, output.distance_png)
