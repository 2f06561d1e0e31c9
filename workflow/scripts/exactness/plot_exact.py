"""Draw Markov chains and exact draws: the counties of all states, and sex by age."""

from isdp.plots.laws import laws_overlaid
from isdp.plots.style import save
from reproduction.exactness.figures import county_distances, county_laws
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    settings = f"{params.norm}, epsilon = {params.epsilon:g}"
    title = f"Noise of all counties of each state ({settings}): Markov chains and exact draws"
    figure = county_laws(read_csv(files.shares), read_csv(files.agreement), title)
    save(figure, output.counties, output.counties_png)

    title = f"{params.chains} chains of each state from over-dispersed starts ({settings})"
    figure = county_distances(read_csv(files.distances), title)
    save(figure, output.distances, output.distances_png)

    series = dict(list(read_csv(files.sex_by_age).groupby("series")))
    figure = laws_overlaid(
        series["norm"],
        series["cells"],
        read_csv(files.sex_by_age_agreement),
        "Sex by age: noise of the lattice walk and of exact draws",
        {"conditional": f"conditional, epsilon = {params.sex_by_age_epsilon:g}"},
        {"mcmc": "lattice walk"},
    )
    save(figure, output.sex_by_age, output.sex_by_age_png)
