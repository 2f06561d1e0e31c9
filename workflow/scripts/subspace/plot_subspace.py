"""Draw the figures of subspace privacy."""

from pathlib import Path

from isdp.io.files import read_json
from isdp.plots.style import save
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv
from reproduction.subspace import figures

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    read = {name: read_csv(path) for name, path in snakemake.input.items() if name != "provenance"}
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
    for svg, png in zip(output.svg, output.png, strict=True):
        save(drawn[Path(svg).stem.removeprefix("subspace_")], svg, png)
