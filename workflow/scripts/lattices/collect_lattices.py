"""Table the meeting times and norms of all experiments, and draw the bounds of single laws."""

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.plots.bounds import bound_points, bound_title, tv_bounds
from isdp.plots.style import save
from reproduction.lattices.convergence import convergence_table, meeting_columns, speed_table
from reproduction.lattices.entry import describe
from reproduction.running.tables import read_csv, read_csvs, write_table

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    meetings, norms = read_csvs(files.meetings), read_csvs(files.norms)
    norms.insert(0, "experiment", norms.pop("experiment"))
    for table, path, title in (
        (meeting_columns(meetings), output.meetings_csv, "Meeting times"),
        (
            convergence_table(meetings),
            output.convergence_csv,
            "Iterations until the bound is below 0.01",
        ),
        (
            speed_table(meetings, read_csvs(files.seconds)),
            output.speed_csv,
            "Seconds until the bound is below 0.01",
        ),
        (norms, output.norms_csv, "The norm of the noise, and the rule of thumb for it"),
    ):
        write_table(table, path, title)
    followed = dict(zip(params.laws, map(read_csv, files.distances), strict=True))
    drawn = [(name, law, each) for name, laws in params.laws.items() for law, each in laws.items()]
    paths = zip(files.curves, files.trails, output.svg, output.png, output.csv, strict=True)
    for (name, law, entry), (curves, trails, svg, png, data) in zip(drawn, paths, strict=True):
        curves, distances = read_csv(curves), followed[name][followed[name]["law"] == law]
        title = bound_title(name, params.runs)
        figure = tv_bounds(curves, read_csv(trails), distances, title, {law: describe(entry)})
        save(figure, svg, png)
        write_csv(bound_points(curves, distances), data)
