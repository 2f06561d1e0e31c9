"""Describe the noise of one experiment under all its laws, and lay it over exact draws."""

import pandas as pd

from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.exactness.experiment import compare_law, law_series, samples_of
from reproduction.lattices.entry import mechanism_of
from reproduction.lattices.noise import box_table, noise_summary, norm_row
from reproduction.running.draws import read_by
from reproduction.running.jobs import job_log
from reproduction.running.tables import write_table

with job_log(snakemake.log[0]):
    params, output, name = snakemake.params, snakemake.output, snakemake.wildcards.experiment
    mechanisms = {law: mechanism_of(entry) for law, entry in params.laws.items()}
    chains = read_by("law", snakemake.input.draws)
    exact = read_by("law", snakemake.input.exact)
    # where no perfect sampler is practical, the file of exact draws is empty
    drawn = {law: draws for law, draws in exact.items() if draws.noise.size}
    for draws, table, boxes, what in (
        (chains, output.csv, output.boxes, ""),
        (drawn, output.exact_csv, output.exact_boxes, ", exact draws"),
    ):
        summary = pd.concat([noise_summary(law, each) for law, each in draws.items()])
        write_table(summary, table, f"Noise of each cell{what}: {name}")
        write_csv(pd.concat([box_table(law, each) for law, each in draws.items()]), boxes)
    norms = [norm_row(law, each, mechanisms[law]) for law, each in chains.items()]
    write_csv(pd.DataFrame(norms).assign(experiment=name), output.norms)
    compared = []
    for law, mechanism in mechanisms.items():
        rng = stream(params.seed, f"second exact sampler {name}", law)
        samples = samples_of(rng, mechanism, chains[law], exact[law])
        compared.append(compare_law(mechanism, exact[law], samples))
    agreement, norms, quantiles = map(pd.concat, zip(*compared, strict=True))
    write_csv(agreement, output.agreement)
    write_csv(law_series(norms, quantiles), output.laws)
