"""Tabulate the points that the figures of the coupling bounds show."""

from isdp.io.files import write_csv
from reproduction.lattices.convergence import bound_points
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, read_csvs

with job_log(snakemake.log[0]):
    files, output = snakemake.input, snakemake.output
    points = bound_points(read_csvs(files.curves), read_csv(files.distances))
    write_csv(points, output.points)
