"""Print one draw of noise as a table with its margins."""

from isdp.drawfile import read_draws
from isdp.experiment import build, describe
from isdp.files import write_table
from isdp.lattices import cross_table
from isdp.logs import job_log

with job_log(snakemake.log[0]):
    experiment = build(snakemake.params.entry)
    draw = read_draws(snakemake.input.draws).noise[0, -1].reshape(experiment.shape)
    title = f"One draw of noise: {describe(snakemake.params.law)}"
    write_table(cross_table(draw, experiment.axes), snakemake.output.csv, title)
