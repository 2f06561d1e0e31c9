"""Claims of SDP on the study `subspace`.

SDP is *Subspace Differential Privacy*.
"""

from functools import partial

import pandas as pd

from reproduction.jobs.claims import (
    Evidence,
    at_most,
    between,
    claim,
    equals,
    extreme,
    farthest,
    only_row,
    quantity,
)

mechanism_claim = partial(claim, paper="SDP", experiment="Subspace mechanisms")
guarantee_claim = partial(claim, paper="SDP", experiment="Subspace guarantees")
campus_claim = partial(claim, paper="SDP", experiment="Campus")
county_claim = partial(
    claim, paper="SDP", experiment="Subspace counties", tables=["subspace_counties"]
)

MAX_RATIO = 1.000000001  # maximum of a ratio that may be at most 1, with a margin for rounding
MAX_RELATIVE_ERROR = 1e-9  # maximum relative error by rounding
MAX_ERROR = 1e-12  # maximum absolute error by rounding


def _checks_of(checks: pd.DataFrame, where: str, measure: str = "") -> pd.DataFrame:
    return checks[(checks["where"] == where) & checks["measure"].str.startswith(measure)]


@mechanism_claim(
    where="Section 2.2, with Example 2.4",
    statement="A mechanism that keeps an invariant exactly cannot be differentially private.",
    paper_value="infinite ratio of probabilities",
    unit="delta at every epsilon (smallest over five mechanisms)",
    tables=["subspace_checks"],
    note="Delta is the share of draws that identify one of two neighbouring datasets.",
)
def sdp_infeasible(checks):
    return Evidence(extreme(_checks_of(checks, "Example 2.4"), "value", "min"), equals(1, "paper"))


@mechanism_claim(
    where="Proposition 2.7",
    statement="A mechanism that is private within a subspace is as private within a smaller one.",
    paper_value="as private",
    unit="increase of delta from a subspace to a smaller one (largest)",
    tables=["subspace_checks"],
    note=(
        "The noise is spherical Gaussian noise on a 4 x 4 table. The invariants are none, the "
        "total, the row totals, and both margins. The criterion 1e-12 allows for rounding."
    ),
)
def sdp_nested(checks):
    return Evidence(
        extreme(_checks_of(checks, "Proposition 2.7"), "value", "max", exact=True),
        at_most(MAX_ERROR, "paper"),
    )


@mechanism_claim(
    where="Proposition 2.9",
    statement="The loss of two releases together is at most the sum of their epsilons.",
    paper_value="at most the sum",
    unit="joint loss divided by the sum of the epsilons (largest)",
    tables=["subspace_checks"],
    note=(
        "Two projected Laplace releases of one histogram are compared at draws, and at points far "
        "from zero. "
        "The criterion allows for rounding."
    ),
)
def sdp_composition(checks):
    return Evidence(
        extreme(_checks_of(checks, "Proposition 2.9"), "value", "max"), at_most(MAX_RATIO, "paper")
    )


COVARIANCE_NOTE = (
    "The error is from the exact covariance. The table subspace_errors compares it with draws "
    "(column z). The criterion allows for rounding."
)


@mechanism_claim(
    where="Corollary 3.5",
    statement="Projected Gaussian noise has the error (n - n_c) c^2 Delta_2(A)^2.",
    paper_value="(n - n_c) c^2 Delta_2(A)^2",
    unit="relative difference from the formula (largest over the workloads)",
    tables=["subspace_formulas"],
    figures=["subspace_errors"],
    note=COVARIANCE_NOTE,
)
def sdp_projected_gaussian_error(formulas):
    rows = formulas[formulas["mechanism"] == "projected Gaussian"]
    return Evidence(extreme(rows, "off", "max", exact=True), at_most(MAX_RELATIVE_ERROR, "paper"))


@mechanism_claim(
    where="Corollary 3.6",
    statement="Extended Gaussian noise has the error (n - n_c) c^2 Delta_2(Q'A)^2.",
    paper_value="(n - n_c) c^2 Delta_2(Q'A)^2",
    unit="relative difference from the formula (largest over the workloads)",
    tables=["subspace_formulas"],
    figures=["subspace_errors"],
    note=COVARIANCE_NOTE,
)
def sdp_extended_gaussian_error(formulas):
    rows = formulas[formulas["mechanism"] == "extended Gaussian"]
    return Evidence(extreme(rows, "off", "max", exact=True), at_most(MAX_RELATIVE_ERROR, "paper"))


@mechanism_claim(
    where="after Corollary 3.6",
    statement="Extended Gaussian noise never has a larger error than projected Gaussian noise.",
    paper_value="no larger",
    unit="error of extended noise divided by that of projected noise (largest over the workloads)",
    tables=["subspace_frameworks"],
    figures=["subspace_errors"],
    note=(
        "The criterion allows for rounding. The paper makes no such claim for Laplace noise, for "
        "which the ratio depends on the basis (same table)."
    ),
)
def sdp_extension_not_worse(frameworks):
    return Evidence(extreme(frameworks, "gaussian", "max", exact=True), at_most(MAX_RATIO, "paper"))


@guarantee_claim(
    where="Lemma 3.4",
    statement=(
        "Gaussian noise with standard deviation c Delta_2(A), c = (1 + sqrt(1 + ln(1/delta))) / "
        "epsilon, is (epsilon, delta)-differentially private for all epsilon, delta > 0."
    ),
    paper_value="sufficient for all epsilon and delta",
    unit="log10 of the delta below which c is too small, at epsilon = 1",
    if_differs="error in the paper",
    tables=["subspace_failing", "subspace_constant"],
    figures=["subspace_constant"],
    note=(
        "The proof is entry 12 of the errata. The constant is too small for small delta at every "
        "epsilon of the table subspace_failing, also below 1, the range of Algorithm 1. The size "
        "of the excess depends on the grid. Interval arithmetic certifies that it is above 1."
    ),
)
def sdp_gaussian_constant(failing, constants):
    return Evidence(
        quantity(only_row(failing[failing["epsilon"] == 1]), "log10_delta", exact=True),
        at_most(1, "paper"),
        statistic=extreme(constants, "excess", "max"),
        statistic_name="times the guaranteed delta (largest on the grid)",
    )


LOSS_UNIT = "exact loss divided by epsilon (largest over the workloads{})"


@guarantee_claim(
    where="Corollary 3.8",
    statement="Projected Laplace noise is epsilon-private.",
    paper_value="epsilon",
    unit=LOSS_UNIT.format(""),
    tables=["subspace_losses"],
    figures=["subspace_losses"],
    note=(
        "The loss is the solution of a linear programme over all neighbouring datasets. The "
        "criterion allows for rounding."
    ),
)
def sdp_projected_laplace_private(losses):
    rows = losses[losses["mechanism"] == "projected Laplace"]
    return Evidence(extreme(rows, "share", "max", exact=True), at_most(MAX_RATIO, "paper"))


@guarantee_claim(
    where="Corollary 3.9",
    statement="Extended Laplace noise is epsilon-private.",
    paper_value="epsilon",
    unit=LOSS_UNIT.format(" and bases"),
    tables=["subspace_losses"],
    note=(
        "The loss is the maximum over all neighbouring datasets, for every basis of the table "
        "subspace_workloads. The criterion allows for rounding."
    ),
)
def sdp_extended_laplace_private(losses):
    rows = losses[losses["mechanism"].str.startswith("extended")]
    return Evidence(extreme(rows, "share", "max", exact=True), at_most(MAX_RATIO, "paper"))


@mechanism_claim(
    where="Theorem 3.11",
    statement=(
        "For small epsilon and delta, the mean squared error of the correlated Gaussian noise is "
        "within a factor of order log^2(n - n_c) log(1/delta) of that of any mechanism with the "
        "same guarantee."
    ),
    paper_value="of order log^2(n - n_c) log(1/delta)",
    unit=(
        "error divided by a lower bound for additive noise, and by (log2 m)^2 ln(1/delta) "
        "(largest over the workloads)"
    ),
    tables=["subspace_near_optimal"],
    figures=["subspace_errors"],
    note=(
        "An order has no constant, and the factor of 10 is ours. The smallest error of any "
        "mechanism is not known, so that it is compared with a lower bound for additive "
        "mechanisms. The dimension m = n - n_c is four or more. Epsilon and delta are those of "
        "the config."
    ),
)
def sdp_correlated_near_optimal(near_optimal):
    return Evidence(extreme(near_optimal, "part", "max", exact=True), at_most(10, "ours"))


@mechanism_claim(
    where="Corollary 4.1",
    statement="Projection of noise with mean zero is unbiased.",
    paper_value="unbiased",
    unit="counts, mean noise of the answer that is farthest from zero in standard errors",
    tables=["subspace_checks"],
    note=(
        "The corollary is on projected noise. Extended noise is judged with it, because here it "
        "extends unbiased noise, which Section 4 requires. If all noise is unbiased, the "
        "probability that any answer exceeds the criterion is below 0.0001."
    ),
)
def sdp_unbiased(checks):
    rows = _checks_of(checks, "Corollary 4.1")
    return farthest(rows, "z", 6, "standard errors from zero", value="value", error="error")


@mechanism_claim(
    where="Theorem 4.2",
    statement="Projected and conditioned spherical Gaussian noise have the same distribution.",
    paper_value="the same distribution",
    unit="difference of the covariances (largest entry)",
    tables=["subspace_checks"],
    note=(
        "The criterion 1e-12 allows for rounding. Other Gaussian noise and Laplace noise have "
        "different covariances (same table)."
    ),
)
def sdp_conditioning(checks):
    rows = _checks_of(checks, "Theorem 4.2", "largest gap")
    spherical = rows[rows["case"] == "round Gaussian"]
    return Evidence(extreme(spherical, "value", "max", exact=True), at_most(MAX_ERROR, "paper"))


@mechanism_claim(
    where="Section 4",
    statement="Agents with a shared seed add the same noise as a central curator.",
    paper_value="the same noise",
    unit="difference from the noise of the curator (largest over the agents)",
    tables=["subspace_checks"],
    note="The bits are equal. Anyone with the seed can subtract the noise.",
)
def sdp_distributed(checks):
    return Evidence(
        extreme(_checks_of(checks, "Section 4", "largest difference"), "value", "max_abs"),
        equals(0, "paper"),
    )


@campus_claim(
    where="Section 5.2",
    statement="The 6,720 cells of the campus have 740 linear constraints.",
    paper_value="740",
    unit="constraints (exact rank)",
    tables=["subspace_campus_constraints"],
    note="There are 760 totals. In each of 20 buildings, one total follows from the others.",
)
def sdp_wifi_constraints(constraints):
    return Evidence(quantity(only_row(constraints), "rank", exact=True), equals(740, "paper"))


@campus_claim(
    where="Section 5.2",
    statement=(
        "The standard deviation of the elementwise additive errors over 50 repetitions has the "
        "median 0.88, and 5 % and 95 % quantiles of 0.86 and 0.91."
    ),
    paper_value="0.88 (0.86 to 0.91)",
    unit=(
        "median (5 % and 95 % quantiles) of four readings: standard deviation of a cell over "
        "repetitions, its variance, standard deviation of a repetition over cells, its variance"
    ),
    if_differs="depends on the reading",
    tables=["subspace_campus_laws"],
    figures=["subspace_campus"],
    note=(
        "Our values are quantiles of exact distributions. A cell has the standard deviation 0.943. "
        "Neither reading as a standard deviation agrees with the printed numbers, and both are "
        "judged. Only the last reading, as the variance of a repetition over its cells, agrees to "
        "one unit of the last digit, which is our criterion. One experiment of 50 repetitions "
        "gives all printed digits with a probability of 2 % by rounding and 30 % by truncation. "
        "See entry 7 of the errata."
    ),
)
def sdp_wifi_sd(readings):
    deviations = readings[readings["reading"].str.startswith("sd of")]
    return Evidence(
        quantity(readings, "median", limits=("q05", "q95")),
        at_most(0.01, "ours"),
        statistic=extreme(deviations, "off", "min"),
        statistic_name=(
            "is the largest difference of the three numbers from the printed ones, for the better "
            "reading as a standard deviation"
        ),
    )


def _illinois(counties: pd.DataFrame) -> pd.DataFrame:
    return only_row(counties[counties["shown"].astype(bool) & (counties["scale"] == 2)])


@county_claim(
    where="Section 5.1, Fig 1",
    statement=(
        "Projected Laplace noise on the counties of Illinois is unbiased, and therefore has no "
        "trend in population."
    ),
    paper_value="provably unbiased",
    unit="share of negative slopes on log population",
    figures=["subspace_counties"],
    note="Without a trend, half of the slopes are negative. The releases are not those shown.",
)
def sdp_counties_unbiased(counties):
    return Evidence(
        quantity(
            _illinois(counties), "share_negative", error="share_negative_se", draws="slope_runs"
        ),
        between(0.45, 0.55, "ours"),
    )


@county_claim(
    where="Section 5.1, Fig 1",
    statement="The noise has a scale similar to that of the errors of the Census DAS.",
    paper_value="similar scale",
    unit="root mean square error of the DAS in Illinois divided by the sd of the noise",
    needs_vintage="20201116",
    figures=["subspace_counties", "subspace_states"],
    note="We read similar as within a factor of 2, at b = 2 / epsilon.",
)
def sdp_counties_scale(counties):
    return Evidence(quantity(_illinois(counties), "das_ratio", exact=True), between(0.5, 2, "ours"))
