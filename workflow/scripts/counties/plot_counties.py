"""Draw one state's noise, a box plot a county: chains, exact draws, and projected noise."""

from isdp.plots.style import save
from reproduction.counties.figures import county_boxes
from reproduction.counties.projection_figures import projected_boxes
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    state, law = snakemake.wildcards.state, f"{params.norm} generalized Laplace"
    for boxes, draws, svg, png in (
        (files.boxes, f"{params.chains} x {params.draws} draws", output.svg, output.png),
        (
            files.exact_boxes,
            f"{params.chains * params.draws} exact draws",
            output.exact_svg,
            output.exact_png,
        ),
    ):
        title = (
            f"{state}: noise in county totals under the state's total, {law}, "
            f"epsilon = {params.epsilon:g}, {draws}"
        )
        save(county_boxes(read_csv(boxes), title), svg, png)
    figure = projected_boxes(
        read_csv(files.projected_boxes),
        f"{state}: projected discrete Laplace against generalized Laplace ({params.norm}), "
        f"epsilon = {params.epsilon:g}, {params.simulations} simulations",
    )
    save(figure, output.projected_svg, output.projected_png)
