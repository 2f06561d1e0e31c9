"""Claims of ISDP that are checked with exact draws."""

from reproduction.jobs.claims import Evidence, at_least, at_most, claim, extreme


@claim(
    paper="ISDP",
    experiment="Exact samplers",
    where="Sections 4 and 5, E.2, E.3",
    statement="Algorithm 1 draws from its target once the coupling bound is small.",
    paper_value="empirical convergence",
    unit="Kolmogorov distance of the paper's chain from exact draws (largest)",
    tables=["exact_agreement"],
    figures=[
        "exact_intersecting",
        "exact_contingency",
        "exact_small",
        "exact_counties",
        "exact_sex_by_age",
    ],
    note=(
        "The norm and the worst cell of each table and distribution are compared. The chain starts "
        "where the coupling bound falls below 0.01. A p-value below 1e-6 would be a difference. "
        "The paper judges convergence by coupled chains and R-hat. The faster chains that give the "
        "noise of this run are in the same table (sampler mcmc)."
    ),
)
def exact_agreement_chains(agreement):
    compared = agreement[(agreement["sampler"] == "paper") & agreement["distance"].notna()]
    return Evidence(
        extreme(compared, "distance", "max"),
        at_least(1e-6, "ours"),
        statistic=extreme(compared, "p_value", "min"),
        statistic_name=(
            f"smallest p-value of {len(compared)} comparisons; each finds a distance of "
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
        "The maximum is over the paper's tables, and over distributions, chains and times. The "
        "sampling error is exceeded with a probability of at most 1e-6. The column detectable of "
        "the table gives the excess that each comparison finds with a probability of at least 0.8, "
        "which is about 0.1. Distances of the norm and of a cell are lower bounds on that of the "
        "whole noise vector."
    ),
)
def bound_above_distance(distances):
    of_paper = distances[distances["experiment"].isin(["intersecting", "contingency"])]
    return Evidence(extreme(of_paper, "largest_excess", "max"), at_most(0, "ours"))
