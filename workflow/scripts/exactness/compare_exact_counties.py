"""Lay the chains of all states over exact draws, and follow how fast they get there."""

import numpy as np
import pandas as pd

from isdp.io.draws import read_draws
from isdp.io.files import write_csv
from isdp.mechanisms.laplace import GeneralizedLaplace
from isdp.plots.style import save
from isdp.seeds import stream
from reproduction.exactness.experiment import compare_law, follow_counties, pooled_shares
from reproduction.exactness.figures import county_distances, county_laws
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, read_csvs, write_table

with job_log(snakemake.log[0]):
    params, output, files = snakemake.params, snakemake.output, snakemake.input
    write_table(read_csvs(files.noise), output.noise_csv, "Noise of every county, exact draws")
    states_table = read_csvs(files.state)
    write_table(states_table, output.states_csv, "County noise, exact draws: the states")
    mechanism = GeneralizedLaplace(params.walk["epsilon"], params.walk["norm"])
    times = np.unique(np.round(np.geomspace(1, params.burn_in + 1, 14)).astype(int) - 1).tolist()
    agreement, pooled, curves = [], [], []
    states = read_csv(files.states)["state"]
    for state, chains, exact in zip(states, files.draws, files.exact, strict=True):
        noise, drawn = read_draws(chains).noise, read_draws(exact)
        samples = {"mcmc": noise}
        agreement.append(compare_law("counties", state, mechanism, drawn, samples)[0])
        pooled.append(pooled_shares(state, {**samples, "exact": drawn.noise}, mechanism))
        rng = stream(params.seed, "distance counties", state)
        size = noise.shape[-1]
        curve = follow_counties(
            rng, size, drawn.noise, **params.walk, chains=params.chains, times=times
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
