"""Plot and list the records that each constraint counts."""

from isdp.io.files import write_csv
from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.lattices.constraints_figures import plot_constraints
from reproduction.lattices.entry import list_constraint_pairs

with job_log(snakemake.log[0]):
    entry, output = snakemake.params.entry, snakemake.output
    write_csv(list_constraint_pairs(entry["constraints"]), output.pairs)
    figure = plot_constraints(entry["constraints"], entry["records"])
    save_figures({"constraints": figure}, output)
