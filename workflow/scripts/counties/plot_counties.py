"""Plot the noise of one state from Markov chains, from exact draws, and from projection."""

from isdp.io.files import read_json
from reproduction.counties.figures import (
    format_state_title,
    plot_county_boxes,
    plot_projected_boxes,
)
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    params, files, drawn = snakemake.params, snakemake.input, {}
    state = snakemake.wildcards.state
    vintage = read_json(files.provenance)["vintage"]
    rule = read_csv(files.states).set_index("state")["rule"][state]
    for key, draws in (
        ("noise", f"{params.chains} x {params.draws} draws"),
        ("exact", f"{params.chains * params.draws} exact draws"),
    ):
        title = format_state_title(state, rule, params.mechanism, draws, vintage)
        (usual,) = read_csv(files[f"{key}_state"])["p_abs_le_30"]
        drawn[key] = plot_county_boxes(read_csv(files[key]), title, vintage, usual)
    draws = f"{params.simulations} simulations of projected discrete Laplace noise"
    title = format_state_title(state, rule, params.mechanism, draws)
    drawn["projection"] = plot_projected_boxes(read_csv(files.projection), title)
    save_figures(drawn, snakemake.output)
