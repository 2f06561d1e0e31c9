"""Draw the noise of one state: by Markov chains, by exact draws, and projected."""

from isdp.io.files import read_json
from reproduction.counties.figures import county_boxes, projected_boxes, state_title
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    params, files, drawn = snakemake.params, snakemake.input, {}
    state = snakemake.wildcards.state
    vintage = read_json(files.provenance)["vintage"]
    rule = read_csv(files.states).set_index("state")["rule"][state]
    for key, made in (
        ("noise", f"{params.chains} x {params.draws} draws"),
        ("exact", f"{params.chains * params.draws} exact draws"),
    ):
        title = state_title(state, rule, params.mechanism, made, vintage)
        drawn[key] = county_boxes(read_csv(files[key]), title, vintage)
    made = f"{params.simulations} simulations of projected discrete Laplace noise"
    title = state_title(state, rule, params.mechanism, made)
    drawn["projection"] = projected_boxes(read_csv(files.projection), title)
    save_figures(drawn, snakemake.output)
