"""Claims of the papers on the study `exactness`."""

from reproduction.jobs.claims import (
    Evidence,
    at_most,
    claim,
    count,
    equals,
    extreme_row,
    quantity,
)


@claim(
    paper="ISDP",
    experiment="Exact samplers",
    where="Sections 4 and 5, E.2, E.3",
    statement=(
        "Algorithm 1 draws from its target: the paper's chain has reached it once its bound says "
        "so."
    ),
    paper_value="empirical convergence",
    unit="comparisons in which the paper's chain is beyond chance from exact draws",
    tables=["exact_agreement"],
    figures=[
        "exact_intersecting",
        "exact_contingency",
        "exact_small",
        "exact_counties",
        "exact_sex_by_age",
    ],
    note=(
        "by norm and by worst cell, of every table and law, with the basis and the acceptance of "
        "the paper (variant paper), started where the coupling bound falls below 0.01; beyond "
        "chance is farther than happens once in a million times. Not judged: our quicker chains, "
        "of which the noise of these tables, of the counties and of sex by age is; they stand "
        "beside it as sampler mcmc. The paper judges by coupled chains and R-hat; exact draws "
        "are ours"
    ),
)
def exact_agreement_chains(table):
    examined = table.query('sampler == "paper" and distance.notna()')
    return Evidence(count(examined.query("beyond"), among=examined), equals(0, "ours"))


@claim(
    paper="ISDP",
    experiment="Exact samplers",
    where="Section 4, Figs 1, 4, 6",
    statement=(
        "The L-lag coupling gives an upper bound on the distance between chain and target, at "
        "every time."
    ),
    paper_value="at most 0",
    unit="in total variation above the bound's upper 99 % limit, less sampling error (largest)",
    tables=["lattice_distance"],
    figures=["intersecting_tv_bound", "contingency_tv_bound", "small_tv_bound"],
    note=(
        "distance less what chance allows once in a million times, over experiments, laws, "
        "variants and times (in full, of the norm, of the worst cell); 0.01 allows for the "
        "bound's own Monte Carlo error"
    ),
)
def bound_above_distance(table):
    row = extreme_row(table, "largest_excess", "max")
    return Evidence(quantity(row, "largest_excess"), at_most(0.01, "ours"))
