"""Claims on TopDown: the claims of the slides (TDA), and one claim of ISDP.

ISDP is *Integer Subspace Differential Privacy*, and TDA is *The TopDown algorithm and invariants*
(slides).
"""

from functools import partial

from reproduction.jobs.claims import (
    Evidence,
    Requirement,
    at_least,
    at_most,
    between,
    claim,
    count,
    equals,
    extreme,
    only_row,
    quantity,
    total,
)

THREE_TABLES = "zCDP/RDP vs. pure DP, three tables"
LAST_SLIDES = "zCDP/RDP vs. pure DP, last slides"
OVERVIEW = "Goal"
RUNS = "TopDown on the 2010 counts"
noise_claim = partial(claim, paper="TDA", experiment="Noise of TopDown")
variance_claim = partial(noise_claim, tables=["topdown_noise"], figures=["topdown_noise"])
arithmetic_claim = partial(noise_claim, tables=["topdown_arithmetic"], transcription=True)
run_claim = partial(claim, paper="TDA", experiment=RUNS)
implied_claim = partial(claim, paper="TDA", experiment="Implied constraints")


@variance_claim(
    where=THREE_TABLES,
    statement=(
        "Gaussian noise in an identity query has the printed variances, for three values of delta "
        "and five of epsilon."
    ),
    paper_value="15 variances",
    unit="printed variances that our formula gives to the printed digit",
    note=(
        "The formula is rho = 6 / variance and epsilon = rho + 2 sqrt(rho ln(1/delta)). The slides "
        "do not state it."
    ),
)
def tda_noise_gaussian(noise):
    equal = noise[noise["off_gaussian"] == 0]
    return Evidence(count(equal, among=noise, exact=True), equals(15, "paper"))


@variance_claim(
    where=THREE_TABLES,
    statement="Laplace noise in an identity query has the printed variances, for five epsilons.",
    paper_value="15 variances",
    unit="printed variances that our formula gives to the printed digit",
    note="The formula is variance = 288 / epsilon^2. Each of the three tables has the same five.",
)
def tda_noise_laplace(noise):
    equal = noise[noise["off_laplace"] == 0]
    return Evidence(count(equal, among=noise, exact=True), equals(15, "paper"))


@variance_claim(
    where=LAST_SLIDES,
    statement="The Gaussian variance is larger than the Laplace variance.",
    paper_value="all 15 printed settings",
    unit="of the 15 printed settings, by the conversion of the slides",
    note=(
        "The slides conclude this from their own tables. The claim tda-gaussian-larger-exact "
        "concerns exact accounting."
    ),
)
def tda_gaussian_larger(noise):
    larger = noise[noise["slides"] > noise["laplace"]]
    return Evidence(count(larger, among=noise, exact=True), equals(15, "paper"))


@variance_claim(
    where=f"{LAST_SLIDES}; by exact accounting, which the slides do not use",
    statement=(
        "The Gaussian variance is larger than the Laplace variance, also at the smallest Gaussian "
        "variance that satisfies epsilon and delta."
    ),
    paper_value="all 15 (by the conversion of the slides)",
    unit="of the 15 printed settings, by exact accounting",
    if_differs="depends on the reading",
    note=(
        "The conversion of the slides requires more Gaussian noise than epsilon and delta need. "
        "At the smallest sufficient variance, Gaussian noise has the smaller variance in the other "
        "settings, all at delta = 1e-6. Laplace noise has delta = 0, as in the slides."
    ),
)
def tda_gaussian_larger_exact(noise):
    larger = noise[noise["exact Gaussian"] > noise["laplace"]]
    return Evidence(count(larger, among=noise, exact=True), equals(15, "ours"))


@noise_claim(
    where=LAST_SLIDES,
    statement="Gaussian noise has lighter tails than Laplace noise (fewer outliers).",
    paper_value="fewer",
    unit=(
        "persons; the absolute Gaussian noise that one of 12 billion answers exceeds in "
        "expectation, for delta = 1e-14, 1e-9 and 1e-6 (Laplace noise: 278)"
    ),
    tables=["topdown_tails"],
    note=(
        "Epsilon is 1. Within 107, 63 and 37 persons of zero, for these values of delta, Gaussian "
        "noise has the heavier tails."
    ),
)
def tda_lighter_tails(tails):
    smaller = tails[tails["largest_gaussian"] < tails["largest_laplace"]]
    return Evidence(
        quantity(tails, "largest_gaussian", exact=True),
        equals(3, "ours"),
        statistic=count(smaller, among=tails),
        statistic_name="of 3 values of delta at which the largest Gaussian noise is smaller",
    )


@arithmetic_claim(
    where=OVERVIEW,
    statement="About 6 million blocks have about 12 billion cells.",
    paper_value="about 12 billion",
    unit="cells: 6 million blocks times 2 x 63 x 2 x 8",
)
def tda_cells(arithmetic):
    row = only_row(arithmetic[arithmetic["quantity"] == "cells"])
    return Evidence(quantity(row, "computed", exact=True), between(11.5e9, 12.5e9, "paper"))


@arithmetic_claim(
    where=OVERVIEW,
    statement="641 queries per region are about 3.6 billion queries.",
    paper_value="3.6e9",
    unit="queries: 641 times 6 million blocks",
    if_differs="error in the paper",
    note=(
        "Rounding of the number of blocks does not explain it. At least 11.5 billion cells need at "
        "least 5.70 million blocks, and these have at least 3.656 billion queries. A number that "
        "rounds to 3.6 billion is below 3.65 billion."
    ),
)
def tda_queries(arithmetic):
    row = only_row(arithmetic[arithmetic["quantity"] == "queries"])
    return Evidence(quantity(row, "computed", exact=True), between(3.55e9, 3.65e9, "paper"))


@arithmetic_claim(
    where="zCDP/RDP vs. pure DP, failure probability",
    statement="With delta = 1e-14/4 and 400 million persons, the probability of a failure is 1e-6.",
    paper_value="1e-6",
    unit="failures: delta times 400 million persons",
)
def tda_failure_probability(arithmetic):
    row = only_row(arithmetic[arithmetic["quantity"] == "failures"])
    return Evidence(quantity(row, "computed", exact=True), between(0.5e-6, 1.5e-6, "paper"))


@run_claim(
    where=OVERVIEW,
    statement="The data are sparse.",
    paper_value="sparse",
    unit="county cells without persons, of 811,692",
    tables=["topdown_bias"],
    figures=["topdown_bias"],
    note=(
        "The criterion is half of the cells. The cells of blocks, which the slides count, are "
        "sparser than those of counties."
    ),
)
def tda_sparse(bias):
    row = only_row(bias.query('system == "identity 4" and cell_class == "0"'))
    return Evidence(quantity(row, "cells"), at_least(405846, "ours"))


@run_claim(
    where="TopDown Framework (without invariants); State Level Histograms",
    statement="Cells that are zero at the parent are dropped, which makes the problems smaller.",
    paper_value="smaller",
    unit="share of a state's cells that are zero there, and therefore in all its counties",
    tables=["topdown_rounding"],
    note=(
        "The criterion of 1 % of the cells is ours. The table topdown_invariants counts the "
        "persons in cells that were dropped wrongly."
    ),
)
def tda_zero_stays(rounding):
    row = only_row(rounding.query('system == "identity 4" and level == "county"'))
    return Evidence(quantity(row, "dropped"), at_least(0.01, "ours"))


@run_claim(
    where="National and State Level Histograms",
    statement="The linear programme that rounds has integer solutions by the simplex method.",
    paper_value="integer",
    unit="largest distance from an integer, over all programmes of all runs",
    tables=["topdown_rounding"],
    note=(
        "The matrix is totally unimodular (table topdown_unimodular). The criterion allows for "
        "floating point."
    ),
)
def tda_rounding_whole(rounding):
    return Evidence(extreme(rounding, "off_whole", "max"), at_most(1e-09, "ours"))


@run_claim(
    where="Invariants and Utility",
    statement="Consistency with the invariants could increase accuracy.",
    paper_value="could",
    unit=(
        "percent by which the root mean square error of state cells is smaller (smallest over the "
        "budgets)"
    ),
    tables=["topdown_invariants"],
    note=(
        "The runs with and without the states' populations as invariants have the same "
        "measurements. The standard error is a jackknife over the states."
    ),
)
def tda_invariants_accuracy(invariants):
    held = invariants[invariants["held"]]
    gain = extreme(held, "gain_percent", "min", error="gain_error", draws="runs")
    return Evidence(gain, at_least(0, "ours"))


@implied_claim(
    where="An Example (5)",
    statement="The six constraints derived by elimination are necessary and sufficient.",
    paper_value="necessary and sufficient",
    unit="totals that the constraints allow (9801 are possible)",
    tables=["topdown_dormitories"],
    note="The constraint on co-ed dormitories follows from the others.",
)
def tda_dormitories(dormitories):
    row = only_row(dormitories[dormitories["constraints"] == "printed"])
    return Evidence(
        quantity(row, "totals", exact=True),
        equals(0, "paper"),
        statistic=quantity(row, "wrong"),
        statistic_name="is the number of totals that are wrongly allowed or excluded",
    )


@implied_claim(
    where="An Example (4)",
    statement="(49, 50, 101) meets the obvious constraints, and is impossible.",
    paper_value="impossible",
    unit=(
        "of three descriptions (occupied dormitories, the printed constraints, both regions "
        "listed), those that allow it"
    ),
    tables=["topdown_dormitories"],
    note="The obvious constraints are those of occupied dormitories.",
)
def tda_dormitories_101(dormitories):
    compared = ["occupied dormitories", "printed", "both regions listed"]
    rows = dormitories[dormitories["allows_49_50_101"] & dormitories["constraints"].isin(compared)]
    return Evidence(
        quantity(rows, "constraints", exact=True), equals("occupied dormitories", "paper")
    )


@implied_claim(
    where="via Network Flows",
    statement="Maximum flows and minimum cuts give the same constraints.",
    paper_value="the same",
    unit="totals that the cuts wrongly allow or exclude",
    tables=["topdown_dormitories"],
)
def tda_flow(dormitories):
    row = only_row(dormitories[dormitories["constraints"] == "minimal cuts"])
    return Evidence(quantity(row, "wrong", exact=True), equals(0, "paper"))


@implied_claim(
    where="Example (group quarters)",
    statement="The number of constraints can be much smaller than one per combination of types.",
    paper_value="much smaller",
    unit="irredundant constraints of up to 127 (smallest over the states with several counties)",
    tables=["topdown_implied"],
    note=(
        "The criterion is half of the combinations. DC is left out, because a single county "
        "implies no constraint. Constraints that follow from one person of each type and the "
        "state's total do not count. The lowest regions are counties here, and blocks in the "
        "slides."
    ),
)
def tda_gq_smaller(implied):
    return Evidence(
        extreme(implied[implied["counties"] > 1], "needed", "min", exact=True), at_most(63, "ours")
    )


@implied_claim(
    where="Example (group quarters)",
    statement="The matrix of the constraints on all combinations is not totally unimodular.",
    paper_value="not unimodular",
    unit="absolute determinant of a square submatrix",
    tables=["topdown_unimodular"],
    note="A determinant of 2 or more refutes total unimodularity.",
)
def tda_gq_not_unimodular(unimodular):
    rows = unimodular[unimodular["constraints"] == "all subsets of three kinds"]
    return Evidence(extreme(rows, "determinant", "max_abs", exact=True), at_least(2, "paper"))


@implied_claim(
    where="Example (group quarters)",
    statement="Integer solutions still exist, by the theorem on network flows.",
    paper_value="integer solutions",
    unit="matrices with a fractional vertex",
    tables=["topdown_unimodular"],
)
def tda_gq_whole(unimodular):
    rows = unimodular[unimodular["constraints"] == "all subsets of three kinds"]
    fractional = rows[~rows["whole_vertices"].astype(bool)]
    return Evidence(count(fractional, among=rows, exact=True), equals(0, "paper"))


@implied_claim(
    where="Implied Constraints; TopDown with Invariants",
    statement="Elimination works for fractions, and not always for integers.",
    paper_value="not always",
    unit="integer tables with the margins of a 3 x 4 x 6 table that fractions have",
    tables=["topdown_witness"],
    note="The counterexample is ours. A table of multiples of one half has its margins.",
)
def tda_elimination_fractions(witness):
    rows = witness[witness["numbers"] == "whole"]
    return Evidence(count(rows[rows["met"]], among=rows, exact=True), equals(0, "paper"))


@implied_claim(
    where="Workarounds",
    statement="The failsafe keeps the invariants and makes the accuracy worse.",
    paper_value="worse",
    unit=(
        "persons by which a state's l1 error is larger than with the implied constraints, for each "
        "budget at which the failsafe was used"
    ),
    tables=["topdown_failsafe"],
    note=(
        "The code checks the invariants of each release. Both releases of a state have the same "
        "measurements. The values are in the order of the table: group quarters, then dormitories, "
        "by epsilon. The slide does not name the error. That of the counties (columns "
        "counties_failsafe and counties_implied) is not larger at every budget."
    ),
)
def tda_failsafe(failsafe):
    over = quantity(
        failsafe[failsafe["fired"] > 0],
        "over_implied",
        error="over_implied_error",
        names="{where}, epsilon {epsilon:g}".format_map,
    )
    used = Requirement("releases with the failsafe", total(failsafe, "fired"), 10)
    return Evidence(over, at_least(0, "ours"), decides=used)


@implied_claim(
    where="Workarounds",
    statement=(
        "The minimal schema, which estimates the group quarters of all levels at once, works if "
        "its problems fit in memory."
    ),
    paper_value="works",
    unit="releases without an integer table that keeps what is known of each county",
    tables=["topdown_failsafe"],
    note=(
        "All counties are in one least squares problem and one linear programme. The slides make "
        "no statement on its accuracy. Ours is in the columns error_minimal and over_minimal of "
        "the table."
    ),
)
def tda_minimal_schema(failsafe):
    return Evidence(total(failsafe, "minimal_failed"), equals(0, "paper"))


@implied_claim(
    where="Workarounds",
    statement="Cutting planes find the constraints that an instance needs.",
    paper_value="the necessary constraints",
    unit="cuts (maximum over the releases), of 268,435,455 bounds",
    tables=["topdown_cuts"],
    note="There are 28 types, as in the slides. The regions are synthetic.",
)
def tda_cutting_planes(cuts):
    return Evidence(
        extreme(cuts, "cuts_most", "max"),
        equals(0, "paper"),
        statistic=total(cuts, "broken"),
        statistic_name="is the number of releases that no regions can have",
    )


@claim(
    paper="ISDP",
    experiment=RUNS,
    where="Section 5",
    statement=(
        "The negative bias of large counties is likely due to non-negativity, which is imposed on "
        "the small areas below the counties."
    ),
    paper_value="likely",
    unit="negative slopes of 48, without and with negative counts",
    tables=["topdown_causes", "topdown_configurations"],
    figures=["topdown_slopes"],
    note=(
        "Without bias 24 are expected, with a standard deviation of 3.5. Our runs end at the "
        "county. They impose non-negativity on county cells, and not on the areas below."
    ),
)
def isdp_bias_non_negativity(causes, configurations):
    with_negatives = "identity 4, negatives allowed"
    systems = ["identity 4", with_negatives]
    free = only_row(causes[causes["system"] == with_negatives])
    used = configurations[configurations["system"].isin(systems)]
    below = extreme(used, "levels_below_county", "min")
    return Evidence(
        quantity(
            causes[causes["system"].isin(systems)],
            "negative_slopes",
            error="negative_slopes_error",
        ),
        between(12, 36, "ours"),
        statistic=quantity(free, "negative_slopes", error="negative_slopes_error", draws="runs"),
        statistic_name="negative slopes with negative counts",
        needs=Requirement("levels below the county", below, 1),
    )
