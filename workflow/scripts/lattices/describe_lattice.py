"""Describe the noise of one experiment under all its laws, lay it over exact draws, and draw it."""

import pandas as pd

from reproduction.running.jobs import job_log
from isdp.io.files import write_csv
from isdp.plots.bounds import bound_points, bound_title, tv_bounds
from isdp.plots.boxes import cell_boxes
from isdp.plots.laws import laws_overlaid
from isdp.plots.style import save
from isdp.seeds import stream
from reproduction.exactness.experiment import compare_law, law_series, samples_of
from reproduction.lattices.entry import describe, mechanism_of
from reproduction.lattices.noise import box_table, noise_summary, norm_row
from reproduction.running.draws import read_by
from reproduction.running.tables import read_csv, read_csvs, write_table

SAMPLERS = {
    "paper": "the paper's chain",
    "mcmc": "our quicker chain",
    "staged rejection": "exact, by staged rejection",
    "messages": "exact, by summing cells out",
}

with job_log(snakemake.log[0]):
    params, files, output = snakemake.params, snakemake.input, snakemake.output
    name = snakemake.wildcards.experiment
    mechanisms = {law: mechanism_of(entry) for law, entry in params.laws.items()}
    words = {law: describe(entry) for law, entry in params.laws.items()}
    chains, exact = read_by("law", files.draws), read_by("law", files.exact)
    walked = {"paper": read_by("law", files.paper)}
    if params.variant != "paper":
        walked["mcmc"] = chains
    # where no perfect sampler is practical, the file of exact draws is empty
    drawn = {law: draws for law, draws in exact.items() if draws.noise.size}
    exactly = ", exact draws", f"{params.exact_realisations} exact draws"
    if not drawn:
        exactly = ", exact draws (no perfect sampler is practical)", "no exact draws"
    for key, draws, what, number in (
        ("noise_", chains, "", f"{params.realisations} realisations"),
        ("exact_", drawn, *exactly),
    ):
        # the chains come first, and leave the columns of tables without rows
        summaries = [noise_summary(law, each) for law, each in draws.items()]
        summary = pd.concat(summaries) if draws else summary[:0]
        write_table(summary, output[f"{key}csv"], f"Noise of each cell{what}: {name}")
        tables = [box_table(law, each) for law, each in draws.items()]
        boxes = pd.concat(tables) if draws else boxes[:0]
        write_csv(boxes, output[f"{key}boxes"])
        title = f"{name.capitalize()} experiment: noise of each cell, {number}"
        figure = cell_boxes(boxes, title, words)
        save(figure, output[f"{key}svg"], output[f"{key}png"])
    norms = [norm_row(law, each, mechanisms[law]) for law, each in chains.items()]
    write_csv(pd.DataFrame(norms).assign(experiment=name), output.norms)

    compared = []
    for law, mechanism in mechanisms.items():
        rng = stream(params.seed, f"second exact sampler {name}", law)
        own = {sampler: draws[law] for sampler, draws in walked.items()}
        samples = samples_of(rng, mechanism, own, exact[law])
        compared.append(compare_law(mechanism, exact[law], samples))
    agreement, norms, quantiles = map(pd.concat, zip(*compared, strict=True))
    write_csv(agreement, output.agreement)
    write_csv(law_series(norms, quantiles), output.laws)
    title = f"{name.capitalize()} experiment: the law that the chains find, over exact draws"
    figure = laws_overlaid(norms, quantiles, agreement, title, words, SAMPLERS)
    save(figure, output.laws_svg, output.laws_png)

    curves, distances = read_csvs(files.curves), read_csv(files.distances)
    figure = tv_bounds(
        curves, read_csvs(files.trails), distances, bound_title(name, params.runs), words
    )
    save(figure, output.bound_svg, output.bound_png)
    write_csv(bound_points(curves, distances), output.bound_data)
