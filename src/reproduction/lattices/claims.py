"""Claims of the papers on the lattice experiments."""

from functools import partial

import pandas as pd

from reproduction.jobs.claims import (
    Evidence,
    Requirement,
    at_least,
    at_most,
    claim,
    count,
    equals,
    extreme,
    farthest,
    only_row,
    quantity,
    total,
)

contingency_claim = partial(claim, paper="ISDP", experiment="Contingency table")
lattice_claim = partial(claim, paper="ISDP", experiment="All lattices")


def _of_the_paper(convergence: pd.DataFrame) -> pd.DataFrame:
    """Select the paper's two experiments, its chain and its two norms."""
    return convergence.query(
        'experiment in ["intersecting", "contingency"] and variant == "paper" '
        'and law in ["l1", "l2"]'
    )


def _largest_bias(summary: pd.DataFrame) -> Evidence:
    """Find the largest bias in standard errors, under the two norms of the paper's figures."""
    rows = summary[summary["law"].isin(["l1", "l2"])]
    return farthest(rows, "z", 5.5, "standard errors from zero", value="mean", error="mcse")


@claim(
    paper="ISDP",
    experiment="Intersecting constraints",
    where="E.2, Fig 5",
    statement="The noise of every record is unbiased.",
    paper_value="unbiased",
    unit="persons (mean of the record with the largest |mean| / standard error)",
    tables=["intersecting_noise_summary"],
    figures=["intersecting_noise"],
    note=(
        "The record with the largest ratio of |mean| to standard error is shown, over both norms. "
        "Unbiased noise fails the criterion about once in a million times. Exact draws give the "
        "same result (table intersecting_noise_summary_exact)."
    ),
)
def intersecting_unbiased(summary):
    return _largest_bias(summary)


@contingency_claim(
    where="E.3, Fig 7",
    statement="The noise of every cell is unbiased.",
    paper_value="unbiased",
    unit="persons (mean of the cell with the largest |mean| / standard error)",
    tables=["contingency_noise_summary"],
    figures=["contingency_noise"],
    note=(
        "The cell with the largest ratio of |mean| to standard error is shown, over both norms. "
        "Unbiased noise fails the criterion about once in a million times. Exact draws give the "
        "same result (table contingency_noise_summary_exact)."
    ),
)
def contingency_unbiased(summary):
    return _largest_bias(summary)


@contingency_claim(
    where="Tables 1, 3",
    statement="The printed noise tables have zero margins.",
    paper_value="zero margins",
    unit="margins of the two tables that are not zero",
    transcription=True,
    tables=["contingency_printed"],
)
def contingency_printed_margins(printed):
    return Evidence(total(printed, "margins_off", exact=True), equals(0, "paper"))


@contingency_claim(
    where="Tables 1, 3",
    statement="The printed noise tables are draws of the generalized Laplace mechanism.",
    paper_value="one instance of the noise",
    unit="p-value of the shape of a printed table (minimum of the two tables)",
    tables=["contingency_printed"],
    note=(
        "The shape is the ratio of the l2 norm to the l1 norm. Its distribution hardly depends on "
        "epsilon, which our text copy lacks. The p-value is two-sided, among our draws of the same "
        "norm. Right tables fail the criterion once in a hundred times."
    ),
)
def printed_tables_are_draws(printed):
    return Evidence(extreme(printed, "shape_p_value", "min"), at_least(0.005, "ours"))


@contingency_claim(
    where="Table 2",
    statement="The counts of Gamma sum to 35.",
    paper_value="35",
    unit="children in Gamma",
    if_differs="error in the paper",
    transcription=True,
    tables=["contingency_confidential"],
    note=(
        "The printed total is an error. The printed counts 3, 10, 10 and 2 sum to 25, and only 25 "
        "agrees with the printed grand total: 20 + 55 + 25 + 35 = 135."
    ),
)
def contingency_gamma_total(confidential):
    gamma = only_row(confidential[confidential["county"] == "Gamma"])
    return Evidence(quantity(gamma, "Total", exact=True), equals(35, "paper"))


@contingency_claim(
    where="Table 2",
    statement="The counts sum to 135.",
    paper_value="135",
    unit="children",
    transcription=True,
    tables=["contingency_confidential"],
)
def contingency_grand_total(confidential):
    totals = only_row(confidential[confidential["county"] == "Total"])
    return Evidence(quantity(totals, "Total", exact=True), equals(135, "paper"))


@lattice_claim(
    where="Section 5, Proposition 8",
    statement="The noise is integer and keeps margins and intersecting totals exactly.",
    paper_value="exact",
    unit="draws that change a total",
    tables=["draws_verified"],
    note="The invariants of every stored draw are checked again in 64-bit integers.",
)
def lattices_exact_margins(draws):
    own = draws[draws["wing"] == "lattices"]
    return Evidence(total(own, "violations"), equals(0, "paper"))


@lattice_claim(
    where="Section 4, D.2; Figs 1, 4, 6",
    statement="Coupled chains meet in finite time under both norms, so that the bound reaches 0.",
    paper_value="in finite time",
    unit="experiments and norms with a pair of chains that does not meet, of 4",
    tables=["lattice_convergence"],
    figures=["intersecting_tv_bound", "contingency_tv_bound"],
    note=(
        "The two experiments of the paper are counted with its chain and its two norms. A pair "
        "that is censored at the cap, or in which neither chain ever moves, counts as a pair that "
        "does not meet. No finite run can show that all pairs meet."
    ),
)
def chains_converge(convergence):
    paper = _of_the_paper(convergence)
    failing = paper[(paper["censored"] > 0) | (paper["standing"] > 0)]
    cap = extreme(paper, "cap", "min")
    return Evidence(
        count(failing, among=paper),
        equals(0, "paper"),
        decides=Requirement("iterations before a run is cut off", cap, 1000000),
    )


@lattice_claim(
    where="Section 5, D.2, E.3",
    statement="The bounds are stable at various choices of the lag.",
    paper_value="stable",
    unit="longest time to the bound 0.1 divided by the shortest, over the lags",
    tables=["lattice_convergence", "meeting_times"],
    figures=["intersecting_tv_bound", "contingency_tv_bound"],
    note=(
        "The time is the number of iterations until the bound is below 0.1. The ratio is the "
        "maximum over the two experiments and the two norms of the paper, for the paper's chain. "
        "Our text copy lacks the paper's lags, and these lags are ours."
    ),
)
def bounds_stable_across_lags(convergence, meetings):
    paper = _of_the_paper(convergence)
    return Evidence(
        extreme(paper, "spread", "max"),
        at_most(2, "ours"),
        decides=Requirement("coupled chains", extreme(meetings, "chains", "min"), 200),
    )


@lattice_claim(
    where="D.2",
    statement="A smaller lag gives earlier meetings, and a larger lag takes more computation.",
    paper_value="earlier",
    unit="mean meeting time at a lag divided by that at the next smaller lag (minimum)",
    tables=["lattice_convergence", "meeting_times"],
    note=(
        "The paper's chain, experiments and norms are compared. Each lag is twice the next smaller "
        "one. The meeting time includes the lag."
    ),
)
def smaller_lag_meets_earlier(convergence, meetings):
    return Evidence(
        extreme(_of_the_paper(convergence), "meeting_growth", "min"),
        at_least(1, "paper"),
        decides=Requirement("coupled chains", extreme(meetings, "chains", "min"), 200),
    )


@lattice_claim(
    where="D.2",
    statement="A larger lag gives a tighter bound.",
    paper_value="tighter",
    unit="bound at time 0 at a lag divided by that at the next smaller lag (maximum)",
    tables=["lattice_convergence", "meeting_times"],
    figures=["intersecting_tv_bound", "contingency_tv_bound"],
    note=(
        "The paper's chain, experiments and norms are compared. At later times, when the bound is "
        "small, the lags give the same bound within the Monte Carlo error."
    ),
)
def larger_lag_is_tighter(convergence, meetings):
    return Evidence(
        extreme(_of_the_paper(convergence), "bound_growth", "max"),
        at_most(1, "paper"),
        decides=Requirement("coupled chains", extreme(meetings, "chains", "min"), 200),
    )


@lattice_claim(
    where="D.2",
    statement="The lag is increased until the bound at time 0 is near 1.",
    paper_value="close to 1",
    unit="bound at time 0 at the chosen lag (maximum)",
    tables=["lattice_convergence", "meeting_times"],
    figures=["intersecting_tv_bound", "contingency_tv_bound"],
    note=(
        "Pilot chains choose the lag, and other chains give the bound. The paper's chain, "
        "experiments and norms are compared."
    ),
)
def bound_near_one_at_start(convergence, meetings):
    return Evidence(
        extreme(_of_the_paper(convergence), "bound_at_0", "max"),
        at_most(1.1, "ours"),
        decides=Requirement("coupled chains", extreme(meetings, "chains", "min"), 200),
    )
