"""Draw the figures of sex by age."""

from reproduction.running.jobs import job_log
from isdp.plots.style import save
from reproduction.congenial.figures import acceptance, distances, samplers, traces
from reproduction.running.tables import read_csv

INPUTS = ("norms", "speed", "traces", "trace", "acceptance", "medians")

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    read = {name: read_csv(snakemake.input[name]) for name in INPUTS}
    of = f"Table P12 of {params.county}" if params.county else "the paper's table"
    tables = f"{params.tables} simulated tables, {params.releases} releases each"
    if params.county:
        tables = f"{of}, {params.tables} times {params.releases} releases"
    raw = f"raw\nepsilon = {params.raw_epsilon:g}"
    figures = {
        "distances": distances(
            read["medians"],
            tables,
            {
                "raw": raw,
                "projected": f"{raw},\nnon-negative\nl2 projection",
                "conditional": f"conditional\nepsilon = {params.epsilon:g}",
                "raw_half": f"raw\nepsilon = {params.epsilon:g}",
            },
        ),
        "acceptance": acceptance(
            read["acceptance"], f"Independence sampler, {of}, epsilon = {params.epsilon:g} per cell"
        ),
        "traces": traces(
            read["traces"],
            read["trace"],
            f"Independence sampler, {of}, proposal parameter {params.proposal_epsilon:g}: "
            f"{read['trace']['acceptance_percent'].iloc[0]:.2f} % accepted, longest stay "
            f"{read['trace']['longest_stay'].iloc[0]:,} steps",
        ),
        "samplers": samplers(
            read["speed"],
            read["norms"],
            f"Two samplers of one target ({of}, epsilon = {params.epsilon:g})",
            {"walk": "lattice walk", "independence": "independence sampler\n(CDP, Algorithm 1)"},
        ),
    }
    for name, figure in figures.items():
        save(figure, output[f"{name}_svg"], output[f"{name}_png"])
