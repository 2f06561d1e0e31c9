"""Draw one experiment: the noise of each cell, exact draws of it, both laws, and the bounds."""

from isdp import plots_exact, plotting
from isdp.experiment import describe
from isdp.files import read_csv, read_csvs, write_csv
from isdp.logs import job_log

SAMPLERS = {
    "mcmc": "Markov chains",
    "staged rejection": "staged rejection",
    "messages": "messages",
}

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    name = snakemake.wildcards.experiment
    laws = {law: describe(entry) for law, entry in params.laws.items()}
    title = f"{name}: noise of each cell, {params.realisations} realisations"
    figure = plotting.cell_boxes(read_csv(files.boxes), title, laws)
    plotting.save(figure, output.noise_svg, output.noise_png)
    title = f"{name}: noise of each cell, {params.exact_realisations} exact draws"
    figure = plotting.cell_boxes(read_csv(files.exact_boxes), title, laws)
    plotting.save(figure, output.exact_svg, output.exact_png)
    points = read_csv(files.laws)
    norms, quantiles = points[points["cell"].isna()], points[points["cell"].notna()]
    title = f"{name}: the law that the chains find, over exact draws"
    figure = plots_exact.laws(norms, quantiles, read_csv(files.agreement), title, laws, SAMPLERS)
    plotting.save(figure, output.laws_svg, output.laws_png)
    curves, distances = read_csvs(files.curves), read_csv(files.distances)
    title = plotting.bound_title(name, params.runs)
    figure = plotting.tv_bounds(curves, read_csvs(files.trails), distances, title, laws)
    plotting.save(figure, output.bound_svg, output.bound_png)
    write_csv(plotting.bound_points(curves, distances), output.bound_data)
