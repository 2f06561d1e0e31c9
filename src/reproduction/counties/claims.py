"""Claims of the papers on the study `counties`."""

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
    extreme_row,
    quantity,
    total,
)


@claim(
    paper="ISDP",
    experiment="Counties",
    where="E.4",
    statement="The chains of every county of every state agree; R-hat is near 1.",
    paper_value="near 1",
    unit="R-hat (largest over the counties)",
    tables=["counties_rhat", "counties_states"],
    figures=["counties_convergence"],
    note=(
        "largest over all counties that can move (a county without freedom has no R-hat and is "
        "counted in counties_states); our text copy of the paper lacks its digits"
    ),
)
def counties_rhat(rhat, states):
    row = extreme_row(rhat.query("not frozen"), "rhat", "max")
    smallest = extreme_row(states.query("frozen < counties"), "ess_min", "min")
    return Evidence(
        quantity(row, "rhat"),
        at_most(1.01, "ours"),
        decides=Requirement(
            "effective draws of the worst county", quantity(smallest, "ess_min"), 2000
        ),
    )


@claim(
    paper="ISDP",
    experiment="Counties",
    where="Section 5, Proposition 8",
    statement="The noise is integer and leaves each state's total exactly as it is.",
    paper_value="0",
    unit="draws that break a total",
    tables=["draws_verified"],
    note="draws whose invariants fail when checked again in 64-bit integers",
)
def counties_exact_totals(table):
    return Evidence(total(table.query('wing == "counties"'), "violations"), equals(0, "paper"))


@claim(
    paper="ISDP",
    experiment="Counties",
    where="Section 5, E.4",
    statement="The noise of every county is centred at zero.",
    paper_value="0",
    unit="persons (the mean farthest from zero, in units of its error)",
    tables=["counties_noise"],
    figures=["counties_{state}"],
    note=(
        "largest |mean| over all counties in units of its Monte Carlo error, below 1e-5 by "
        "chance for all counties together if unbiased; a county that has no freedom has no noise"
    ),
)
def counties_unbiased(table):
    row = extreme_row(table.query("sd > 0"), "z", "max_abs")
    return Evidence(
        quantity(row, "mean", error="mcse"),
        at_most(6, "ours"),
        statistic=quantity(row, "z", absolute=True),
        statistic_name="standard errors from zero",
    )


@claim(
    paper="ISDP",
    experiment="Counties",
    where="E.4",
    statement="The overwhelming majority of the noise lies within [-30, 30].",
    paper_value="overwhelming majority",
    unit="share of the noise (smallest over the states)",
    tables=["counties_states"],
    figures=["counties_{state}"],
    note=(
        "no test of the distribution, since our text copy of the paper lacks its norm, and l1 is "
        "inferred from this sentence; the exact distribution gives 0.9975 for 102 counties"
    ),
)
def counties_noise_scale(table):
    row = extreme_row(table, "p_abs_le_30", "min")
    return Evidence(
        quantity(row, "p_abs_le_30", error="p_abs_le_30_se", draws="draws"), at_least(0.99, "ours")
    )


@claim(
    paper="ISDP",
    experiment="Counties",
    where="E.4",
    statement=(
        "Truncating the released counts at zero changes none of 1000 releases in any county of "
        "any state."
    ),
    paper_value="0",
    unit="releases",
    tables=["counties_states"],
    figures=["truncation"],
    note=(
        "over all kept draws of all chains of each state of this run. For all states, the table "
        "truncation has the number of counties that are expected to be truncated in one release, "
        "by the exact distribution (column expected)"
    ),
)
def counties_no_truncation(table):
    return Evidence(total(table, "releases_truncated"), equals(0, "paper"))


@claim(
    paper="SDP",
    experiment="Counties",
    where="Section 1, Fig 1",
    statement="The DAS errors are regressed on log population in 48 states and territories.",
    paper_value="48",
    unit="regressions",
    tables=["das_regressions"],
    figures=["das_slopes"],
    note="those with more than five counties; follows from the published counts alone",
)
def das_regressions(table):
    return Evidence(count(table, among=table, exact=True), equals(48, "paper"))


@claim(
    paper="SDP",
    experiment="Counties",
    where="Section 1, Fig 1",
    statement="37 of the 48 slopes are negative.",
    paper_value="37",
    unit="slopes",
    needs_vintage="20201116",
    tables=["das_regressions"],
    figures=["das_slopes"],
)
def das_negative_slopes(table):
    return Evidence(
        count(table.query("negative == True"), among=table, exact=True), equals(37, "paper")
    )


@claim(
    paper="SDP",
    experiment="Counties",
    where="Section 1, Fig 1",
    statement="11 negative slopes are significant at 0.01.",
    paper_value="11",
    unit="slopes",
    needs_vintage="20201116",
    tables=["das_regressions"],
    figures=["das_slopes"],
)
def das_significant_slopes(table):
    return Evidence(
        count(table.query("negative == True and significant == True"), among=table, exact=True),
        equals(11, "paper"),
    )


@claim(
    paper="SDP",
    experiment="Counties",
    where="Fig 1, right",
    statement="Illinois is among the states with a significant negative slope.",
    paper_value="IL",
    unit="states with a significant negative slope",
    needs_vintage="20201116",
    tables=["das_regressions"],
    figures=["das_slopes", "counties_IL"],
)
def das_illinois(table):
    return Evidence(
        distinct(table.query("negative == True and significant == True"), "state", exact=True),
        contains("IL", "paper"),
    )


@claim(
    paper="ISDP",
    experiment="Counties",
    where="E.4, Figs 9, 10",
    statement=(
        "The box plots of the projected discrete Laplace and of the generalized Laplace majorly "
        "overlap."
    ),
    paper_value="majorly",
    unit="share of the counties (smallest over the states)",
    tables=["projection_summary"],
    figures=["projection_{state}"],
    note=(
        "counties whose middle halves share more than half of what they cover together; the "
        "l1-nearest vector is not unique, and with the vertex that HiGHS returns one county a "
        "state (sd_max) is the exception. The projection over whole numbers, in the paper a "
        "picture of its own, is the same (columns linear_equal and integer_equal)"
    ),
)
def projection_boxes_overlap(table):
    row = extreme_row(table.query('choice == "solver"'), "boxes_overlapping", "min")
    smallest = extreme_row(table, "simulations", "min")
    return Evidence(
        quantity(row, "boxes_overlapping"),
        at_least(0.9, "ours"),
        decides=Requirement("simulations", quantity(smallest, "simulations"), 1000),
    )


@claim(
    paper="ISDP",
    experiment="Counties",
    where="E.4",
    statement="The least populous county has 82 people (Loving, Texas).",
    paper_value="82",
    unit="people",
    transcription=True,
    tables=["truncation"],
    figures=["truncation"],
)
def truncation_least_county(table):
    row = extreme_row(table, "least_population", "min")
    return Evidence(quantity(row, "least_population", exact=True), equals(82, "paper"))
