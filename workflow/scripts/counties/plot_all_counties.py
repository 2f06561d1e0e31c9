"""Draw the regression slopes, the convergence of all chains, and truncation at zero."""

from isdp.io.files import read_json
from isdp.plots.style import save
from reproduction.counties.figures import convergence_strips, slopes, truncation
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    figure = slopes(read_csv(files.slopes), read_json(files.provenance)["vintage"])
    save(figure, output.slopes, output.slopes_png)

    title = f"Convergence of {params.chains} chains of {params.draws} kept draws, all counties"
    figure = convergence_strips(read_csv(files.convergence), title)
    save(figure, output.convergence, output.convergence_png)

    landmarks = read_csv(files.counties).sort_values("population").iloc[[0, 9, 99]]
    figure = truncation(read_csv(files.truncation), landmarks, params.epsilon)
    save(figure, output.truncation, output.truncation_png)
