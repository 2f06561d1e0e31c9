"""Plot the figures of subspace privacy."""

from isdp.io.files import read_json
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv
from reproduction.subspace import figures

with job_log(snakemake.log[0]):
    params = snakemake.params
    read = {name: read_csv(path) for name, path in snakemake.input.items() if name != "provenance"}
    vintage = read_json(snakemake.input.provenance)["vintage"]
    drawn = {
        "errors": figures.plot_errors(
            read["errors"], params.workloads, params.epsilon, params.delta
        ),
        "constant": figures.plot_constant(read["failing"], read["constant"]),
        "losses": figures.plot_losses(read["attained"], read["profiles"]),
        "campus": figures.plot_readings(read["readings"]),
        "equal_privacy": figures.plot_equal_privacy(read["equal_privacy"]),
        "counties": figures.plot_county_runs(read["boxes"], params.state, params.epsilon, vintage),
        "states": figures.plot_states(read["counties"], vintage),
    }
    save_figures(drawn, snakemake.output)
