"""Draw the figures of subspace privacy."""

from reproduction.running.jobs import job_log
from isdp.io.files import read_json
from isdp.plots.style import save
from reproduction.running.tables import read_csv
from reproduction.subspace import figures

INPUTS = (
    *("errors", "constant", "failing", "attained", "profiles", "equal_privacy"),
    *("readings", "counties", "boxes"),
)

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    read = {name: read_csv(snakemake.input[name]) for name in INPUTS}
    vintage = read_json(snakemake.input.provenance)["vintage"]
    drawn = {
        "errors": figures.errors(read["errors"], params.workloads, params.epsilon, params.delta),
        "constant": figures.constant(read["failing"], read["constant"]),
        "losses": figures.losses(read["attained"], read["profiles"]),
        "campus": figures.readings(read["readings"]),
        "equal_privacy": figures.equal_privacy(read["equal_privacy"]),
        "counties": figures.county_runs(read["boxes"], params.state, params.epsilon, vintage),
        "states": figures.states(read["counties"], vintage),
    }
    for name, figure in drawn.items():
        save(figure, output[f"{name}_figure_svg"], output[f"{name}_figure_png"])
