"""Claims of the papers on noise in county populations."""

from functools import partial

from reproduction.jobs.claims import (
    Evidence,
    Requirement,
    at_least,
    at_most,
    claim,
    contains,
    count,
    distinct,
    equals,
    extreme,
    farthest,
    only_row,
    quantity,
    total,
)

isdp_claim = partial(claim, paper="ISDP", experiment="Counties")
sdp_claim = partial(
    claim, paper="SDP", experiment="Counties", tables=["das_regressions"], figures=["das_slopes"]
)

SIGNIFICANT = "negative == True and significant == True"
STATES_NOTE = (
    "The paper's 11 states follow from the vintage 20201116. A run without it has the 11 states "
    "with the most counties."
)


@isdp_claim(
    where="E.4",
    statement="R-hat of four chains reaches a value near 1 for each county of each state.",
    paper_value="a number that our text copy lacks",
    unit="R-hat (maximum over the counties)",
    tables=["counties_rhat", "counties_states"],
    figures=["counties_convergence"],
    note=(
        f"{STATES_NOTE} The maximum is over the counties with degrees of freedom. A county that is "
        "alone under its total has no R-hat."
    ),
)
def counties_rhat(rhat, states):
    fewest = extreme(states[states["frozen"] < states["counties"]], "ess_min", "min")
    return Evidence(
        extreme(rhat[~rhat["frozen"]], "rhat", "max"),
        at_most(1.01, "ours"),
        decides=Requirement("effective draws of the worst county", fewest, 2000),
    )


@isdp_claim(
    where="Section 5, Proposition 8",
    statement="The noise is integer and keeps the total of each state exactly.",
    paper_value="exact",
    unit="draws that change a total",
    tables=["draws_verified"],
    note="The invariants of every stored draw are checked again in 64-bit integers.",
)
def counties_exact_totals(draws):
    own = draws[draws["wing"] == "counties"]
    return Evidence(total(own, "violations"), equals(0, "paper"))


@isdp_claim(
    where="Section 5, E.4",
    statement="The noise of every county is centred around zero.",
    paper_value="centred around zero",
    unit="persons (mean of the county with the largest |mean| / standard error)",
    tables=["counties_noise"],
    figures=["counties_{state}"],
    note=(
        f"{STATES_NOTE} The county with the largest ratio of |mean| to standard error is shown. If "
        "the noise is unbiased, the probability that any county exceeds the criterion is below "
        "0.00001. A county that is alone under its total has no noise."
    ),
)
def counties_unbiased(noise):
    rows = noise[noise["sd"] > 0]
    return farthest(rows, "z", 6, "standard errors from zero", value="mean", error="mcse")


@isdp_claim(
    where="E.4",
    statement="The overwhelming majority of the noise is within [-30, 30].",
    paper_value="overwhelming majority",
    unit="share of the noise (minimum over the states)",
    tables=["counties_states"],
    figures=["counties_{state}"],
    note=(
        f"{STATES_NOTE} This does not test the norm: our text copy lacks the norm, and we infer l1 "
        "from this sentence. The exact probability for 102 counties is 0.9975."
    ),
)
def counties_noise_scale(states):
    share = extreme(states, "p_abs_le_30", "min", error="p_abs_le_30_se", draws="draws")
    return Evidence(share, at_least(0.99, "ours"))


@isdp_claim(
    where="E.4",
    statement="Truncation at zero changes none of 1000 releases in any county of any state.",
    paper_value="none of 1000",
    unit="releases with a truncated county",
    tables=["counties_states"],
    figures=["truncation"],
    note=(
        f"{STATES_NOTE} A release is one kept draw of one chain for one state. The column "
        "`expected` of the table truncation has the exact expected number of truncated counties "
        "per release, for all 52 states and territories."
    ),
)
def counties_no_truncation(states):
    return Evidence(total(states, "releases_truncated"), equals(0, "paper"))


@sdp_claim(
    where="Section 1, Fig 1",
    statement=(
        "The errors of the Census DAS are regressed on log population in 48 states and territories."
    ),
    paper_value="48",
    unit="regressions",
    transcription=True,
    note=(
        "These are the states and territories with more than five counties, by the published list "
        "of counties. The count does not need the demonstration data."
    ),
)
def das_regressions(regressions):
    return Evidence(count(regressions, among=regressions, exact=True), equals(48, "paper"))


@sdp_claim(
    where="Section 1, Fig 1",
    statement=(
        "The states and territories with at most five counties are D.C., Delaware, Hawaii and "
        "Rhode Island."
    ),
    paper_value="DC, DE, HI, RI",
    unit="states and territories that only one of the two lists contains",
    tables=["truncation"],
    transcription=True,
    note="The published list of counties has 50 states, the District of Columbia and Puerto Rico.",
)
def das_excluded(states):
    excluded = states["state"].isin(["DC", "DE", "HI", "RI"])
    wrong = states[excluded != (states["counties"] <= 5)]
    return Evidence(count(wrong, among=states, exact=True), equals(0, "paper"))


@sdp_claim(
    where="Section 1, Fig 1",
    statement="37 of the 48 slopes are negative.",
    paper_value="37",
    unit="slopes",
    needs_vintage="20201116",
)
def das_negative_slopes(regressions):
    negative = regressions.query("negative == True")  # empty cells without demonstration data
    return Evidence(count(negative, among=regressions, exact=True), equals(37, "paper"))


@sdp_claim(
    where="Section 1; Fig 1, caption",
    statement=(
        "The DAS associates positive errors with larger counties and negative errors with smaller "
        "counties."
    ),
    paper_value="positive errors with larger counties",
    unit="negative slopes on log population, of 48",
    needs_vintage="20201116",
    if_differs="error in the paper",
    note=(
        "The introduction counts 37 negative slopes, which is the opposite (entry 13 of the "
        "errata). If the statement were true, at most half of the slopes would be negative."
    ),
)
def das_direction(table):
    return Evidence(
        count(table.query("negative == True"), among=table, exact=True), at_most(24, "ours")
    )


@sdp_claim(
    where="Section 1, Fig 1",
    statement="11 of the negative slopes are significant at 0.01.",
    paper_value="11",
    unit="slopes",
    needs_vintage="20201116",
)
def das_significant_slopes(regressions):
    significant = regressions.query(SIGNIFICANT)
    return Evidence(count(significant, among=regressions, exact=True), equals(11, "paper"))


@sdp_claim(
    where="Sections 1, 5.1; Fig 1, right; ISDP, E.4",
    statement="The slope of Illinois is negative and significant at 0.01.",
    paper_value="IL",
    unit="states with a significant negative slope",
    needs_vintage="20201116",
    figures=["das_slopes", "counties_IL"],
    note="ISDP counts Illinois and ten others as the 11 states with a significant slope.",
)
def das_illinois(regressions):
    states = distinct(regressions.query(SIGNIFICANT), "state", exact=True)
    return Evidence(states, contains("IL", "paper"))


@isdp_claim(
    where="E.4, Figs 9, 10",
    statement=(
        "The box plots of projected discrete Laplace noise and of generalized Laplace noise "
        "majorly overlap."
    ),
    paper_value="majorly overlap",
    unit="share of the counties (minimum over the states)",
    tables=["projection_summary"],
    figures=["projection_{state}"],
    note=(
        f"{STATES_NOTE} The boxes of a county overlap if the intersection of the two interquartile "
        "ranges is more than half of their union. This definition is ours. The l1-nearest vector "
        "is not unique. In the vector that HiGHS returns, one county of each state takes the whole "
        "correction, and its boxes overlap too little (column box_overlap_min). The linear and the "
        "integer programme return the same vector."
    ),
)
def projection_boxes_overlap(projection):
    solver = projection[projection["choice"] == "solver"]
    return Evidence(
        extreme(solver, "boxes_overlapping", "min"),
        at_least(0.9, "ours"),
        decides=Requirement("simulations", extreme(projection, "simulations", "min"), 1000),
    )


@isdp_claim(
    where="E.4",
    statement="The least populous county of the U.S. is Loving, Texas, with 82 inhabitants.",
    paper_value="82",
    unit="inhabitants",
    transcription=True,
    tables=["truncation"],
    figures=["truncation"],
)
def truncation_least_county(states):
    return Evidence(extreme(states, "least_population", "min", exact=True), equals(82, "paper"))


@isdp_claim(
    where="E.4",
    statement="The smallest counties of most states have populations in the thousands.",
    paper_value="most states",
    unit="states whose least populous county has from 1000 to 9999 inhabitants",
    transcription=True,
    tables=["truncation"],
    figures=["truncation"],
    note=(
        "The criterion is more than half of the 50 states, the District of Columbia and Puerto "
        "Rico. The least populous county of the other states is smaller or larger."
    ),
)
def truncation_smallest_counties(states):
    thousands = states[states["least_population"].between(1000, 9999)]
    return Evidence(count(thousands, among=states, exact=True), at_least(27, "ours"))


@isdp_claim(
    where="E.4",
    statement="The release is effectively unbiased even after negative counts are truncated.",
    paper_value="effectively unbiased",
    unit="persons (largest bias of a county after truncation at zero)",
    tables=["truncation"],
    figures=["truncation"],
    note=(
        "The bias is computed exactly for the least populous county of every state and territory. "
        "It is largest in Texas. The criterion is ours."
    ),
)
def truncated_release_unbiased(states):
    return Evidence(extreme(states, "bias", "max", exact=True), at_most(0.001, "ours"))


@isdp_claim(
    where="Section 5, Fig 2; E.4",
    statement=(
        "The errors of the demonstration data in Illinois have a negative bias that grows with the "
        "county population."
    ),
    paper_value="negative bias",
    unit="persons per unit of log population (slope of the error)",
    tables=["das_regressions"],
    figures=["counties_IL", "das_slopes"],
    needs_vintage="20201116",
)
def demonstration_bias_illinois(regressions):
    illinois = only_row(regressions[regressions["state"] == "IL"])
    return Evidence(quantity(illinois, "slope", exact=True), at_most(0, "ours"))


@isdp_claim(
    where="E.4, Fig 8",
    statement="The demonstration data have significantly biased county errors in 11 states.",
    paper_value="11",
    unit="states with a significant negative slope on log population",
    tables=["das_regressions"],
    figures=["das_slopes"],
    needs_vintage="20201116",
)
def demonstration_bias_states(regressions):
    significant = regressions.query(SIGNIFICANT)
    return Evidence(count(significant, among=regressions, exact=True), equals(11, "paper"))
