"""Lay the chains of one experiment, and a second exact sampler, over exact draws."""

import pandas as pd

from isdp import plots_exact
from isdp.drawfile import read_draws
from isdp.experiment import describe, mechanism_of
from isdp.files import write_csv
from isdp.logs import job_log
from isdp.perfect import compare_law, other_sampler
from isdp.plotting import save
from isdp.seeds import stream

with job_log(snakemake.log[0]):
    params, output, name = snakemake.params, snakemake.output, snakemake.wildcards.experiment
    compared = []
    for (law, entry), chains, exact in zip(
        params.laws.items(), snakemake.input.draws, snakemake.input.exact, strict=True
    ):
        mechanism, drawn = mechanism_of(entry), read_draws(exact)
        samples = {"mcmc": read_draws(chains).noise}
        rng = stream(params.seed, f"second exact sampler {name}", law)
        other = other_sampler(rng, drawn.invariants, mechanism, drawn.noise[..., 0].size)
        if other and drawn.noise.size:
            samples[other[0]] = other[1][None]
        compared.append(compare_law(name, law, mechanism, drawn, samples))
    agreement, norms, quantiles = map(pd.concat, zip(*compared, strict=True))
    write_csv(agreement, output.agreement)
    write_csv(pd.concat([norms, quantiles]), output.data)
    figure = plots_exact.laws(
        norms,
        quantiles,
        agreement,
        f"{name}: the law that the chains find, over exact draws",
        {law: describe(entry) for law, entry in params.laws.items()},
        {
            "mcmc": "Markov chains",
            "staged rejection": "staged rejection",
            "messages": "messages",
        },
    )
    save(figure, output.svg, output.png)
