"""Draw one state's projected noise beside the generalized Laplace's, county by county."""

from isdp import plots_projected
from isdp.files import read_csv
from isdp.logs import job_log
from isdp.plotting import save

with job_log(snakemake.log[0]):
    params = snakemake.params
    figure = plots_projected.projection_boxes(
        read_csv(snakemake.input.boxes),
        f"{snakemake.wildcards.state}: projected discrete Laplace against generalized Laplace "
        f"({params.norm}), epsilon = {params.epsilon:g}, {params.simulations} simulations",
    )
    save(figure, snakemake.output.svg, snakemake.output.png)
