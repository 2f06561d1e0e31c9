"""Claims of ISDP that are checked with exact draws.

ISDP is *Integer Subspace Differential Privacy*.
"""

import pandas as pd

from reproduction.jobs.claims import Evidence, at_least, at_most, claim, extreme


def _of_the_paper(table: pd.DataFrame) -> pd.DataFrame:
    """Select the paper's two lattice experiments and its two norms."""
    return table.query('experiment in ["intersecting", "contingency"] and law in ["l1", "l2"]')


@claim(
    paper="ISDP",
    experiment="Exact samplers",
    where="Sections 4 and 5, E.2, E.3",
    statement="Algorithm 1 draws from its target once the coupling bound is small.",
    paper_value="empirical convergence",
    unit="Kolmogorov distance of the paper's chain from exact draws (largest)",
    tables=["exact_agreement"],
    figures=["exact_intersecting", "exact_contingency"],
    note=(
        "The norm and the worst cell are compared, for the two experiments and the two norms of "
        "the paper. The chain starts where the coupling bound falls below 0.01. A p-value below "
        "1e-6 would be a difference. It is a proved bound for independent draws, and the chain "
        "counts as draws of its effective size. The paper judges convergence by coupled chains and "
        "R-hat. The same table has our faster chains (sampler mcmc)."
    ),
)
def exact_agreement_chains(agreement):
    compared = _of_the_paper(agreement)
    compared = compared[(compared["sampler"] == "paper") & compared["distance"].notna()]
    return Evidence(
        extreme(compared, "distance", "max"),
        at_least(1e-6, "ours"),
        statistic=extreme(compared, "p_value", "min"),
        statistic_name=(
            f"is the smallest p-value of {len(compared)} comparisons; each finds a distance of "
            f"{compared['detectable'].max():.2f} with a probability of at least 0.8"
        ),
    )


@claim(
    paper="ISDP",
    experiment="Exact samplers",
    where="Section 4, Figs 1, 4, 6",
    statement="The distance of the chain from its target is at most the coupling bound.",
    paper_value="at most the bound",
    unit=(
        "total variation distance above the upper 99 % limit of the bound, less the sampling error "
        "(largest)"
    ),
    tables=["lattice_distance"],
    figures=["intersecting_tv_bound", "contingency_tv_bound"],
    note=(
        "The maximum is over the two experiments and the two norms of the paper, for its chain, "
        "over the norm and the worst cell, and over the times. At each time the sampling error "
        "is exceeded with a probability of at most 1e-6. The column detectable of the table "
        "gives the excess that each comparison finds with a probability of at least 0.8, which is "
        "about 0.1. Distances of the norm and of a cell are lower bounds on that of the whole "
        "noise vector."
    ),
)
def bound_above_distance(distances):
    distances = _of_the_paper(distances)
    own = distances[distances["variant"] == "paper"]
    return Evidence(extreme(own, "largest_excess", "max"), at_most(0, "ours"))
