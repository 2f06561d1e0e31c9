"""Plot the regression slopes, the convergence of all chains, and the truncation at zero."""

from isdp.io.files import read_json
from reproduction.counties.figures import plot_convergence, plot_slopes, plot_truncation
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    params, files = snakemake.params, snakemake.input
    title = f"Convergence of {params.chains} chains of {params.draws} kept draws, all counties"
    landmarks = read_csv(files.counties).sort_values("population").iloc[[0, 9, 99]]
    drawn = {
        "slopes": plot_slopes(read_csv(files.slopes), read_json(files.provenance)["vintage"]),
        "convergence": plot_convergence(read_csv(files.convergence), title),
        "truncation": plot_truncation(read_csv(files.truncation), landmarks, params.epsilon),
    }
    save_figures(drawn, snakemake.output)
