"""Claims on the statements of CDP that are checked by exact computation.

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

from functools import partial

from reproduction.jobs.claims import (
    FAILURES,
    LARGEST_RATIO,
    NO_PROOF,
    Evidence,
    at_least,
    at_most,
    claim,
    count,
    equals,
    extreme,
    only_row,
    quantity,
    select_statements,
    within_bound,
    without_failures,
)

statement_claim = partial(
    claim, paper="CDP", experiment="Statements", tables=["congenial_statements"]
)
LOSS_RATIO = "privacy loss divided by its bound (maximum over the settings)"
SHIFT_RATIO = "log-ratio of posterior to prior, divided by its bound (maximum over the settings)"
ENUMERATED = (
    "All datasets of three to six records are enumerated, with double geometric noise of epsilon "
    "0.1 and 1."
)


@statement_claim(
    where="Section 1.3; Example 4.1",
    statement="The Laplace and the double geometric mechanisms are private with epsilon.",
    paper_value="epsilon",
    unit=LOSS_RATIO,
    note=(
        f"{NO_PROOF.format(10)} {ENUMERATED} The scale of the noise is the l1 sensitivity divided "
        "by epsilon, which is 2 / epsilon for both bins of Example 4.1. The ratio is always 1. "
        "The two kinds of noise have the same largest loss."
    ),
)
def cdp_noise_private(table):
    return within_bound(table, "unconstrained loss")


@statement_claim(
    where="Section 1.3, Definition 1.1",
    statement="The sensitivity of the counting and the histogram query of binary records is 1.",
    paper_value="1",
    unit="largest l1 distance of the answers of two neighbours",
    if_differs="error in the paper",
    note=(
        "A changed record changes two bins of a histogram. The l1 sensitivity is 1 for the count "
        "only. With the maximum norm it is 1 for both, but noise of this scale then has the loss 2 "
        "epsilon. Example 4.1 uses the scale 2 / epsilon (entry 20 of the errata)."
    ),
)
def cdp_sensitivity(table):
    sensitivity = extreme(select_statements(table, "sensitivity"), "value", "max", exact=True)
    return Evidence(sensitivity, equals(1, "paper"))


@statement_claim(
    where="Definition 1.2; Appendix B",
    statement="The double geometric mass adds up to the printed distribution function, and to one.",
    paper_value="closed form",
    unit=FAILURES,
    note=f"{NO_PROOF.format(4)} The steps of the function are compared in rational arithmetic.",
)
def cdp_distribution_function(table):
    return without_failures(table, "distribution function")


@statement_claim(
    where="Appendix B",
    statement="The printed quantile function is that of the double geometric distribution.",
    paper_value="closed form",
    unit="levels at which the quantiles differ",
    if_differs="error in the paper",
    note=(
        "At a jump of the distribution function above 0, the printed quantile is too large by 1. "
        "At all other levels it is correct. A uniform variable is at a jump with probability 0, so "
        "that the sampler is correct (claim cdp-inverse-sampling; entry 20 of the errata)."
    ),
)
def cdp_quantile(table):
    return without_failures(table, "quantiles between", "quantiles at jumps")


@statement_claim(
    where="Appendix B",
    statement="The quantile function of a uniform variable has the double geometric distribution.",
    paper_value="the mass (1.3)",
    unit="masses that differ",
    note=f"{NO_PROOF.format(4)} The printed quantiles of equidistant levels are counted.",
)
def cdp_inverse_sampling(table):
    return without_failures(table, "inverse sampling")


@statement_claim(
    where="Theorem 1.3",
    statement=(
        "The posterior probability of a record is within a factor of e^epsilon of its prior "
        "probability."
    ),
    paper_value="e^epsilon",
    unit=SHIFT_RATIO,
    note=(
        f"{NO_PROOF.format(20)} {ENUMERATED} The priors are random. The other records are known "
        "or independent. The ratio is 1 for a count of 4 records."
    ),
)
def cdp_posterior(table):
    names = ("posterior, others known", "posterior, independent records")
    return within_bound(table, *names)


@statement_claim(
    where="Theorem 1.3, every prior",
    statement="The bound of Theorem 1.3 holds for every prior probability of a record.",
    paper_value="e^epsilon",
    unit=SHIFT_RATIO,
    if_differs="depends on the reading",
    note=(
        "The theorem gives no joint prior. If all records are equal under the prior, the"
        " release shows n records at once, and the exponent is n epsilon. The proof needs "
        "other records that are known or independent (claim cdp-posterior; entry 18 of the errata)."
    ),
)
def cdp_posterior_any_prior(table):
    return within_bound(table, "posterior, equal records")


@statement_claim(
    where="Section 1.4, (1.6)",
    statement="The posterior probability tends to the prior probability as epsilon tends to 0.",
    paper_value="0",
    unit="relative change divided by e^(n epsilon) - 1 (maximum over the settings)",
    note=(
        f"{NO_PROOF.format(15)} The priors are random joint priors of n records, and epsilon is "
        "0.1, 0.001 and 0.00001. The bound tends to 0 with epsilon."
    ),
)
def cdp_posterior_limit(table):
    return within_bound(table, "posterior tends to the prior")


@statement_claim(
    where="Section 2.1",
    statement="A double geometric release breaks the total with a high probability.",
    paper_value="high",
    unit="probability for Table 1 (minimum of two epsilons)",
    note="The probability is exact. The criterion of 0.9 is our reading of a high probability.",
)
def cdp_total_broken(table):
    rows = select_statements(table, "total is broken")
    return Evidence(extreme(rows, "value", "min", exact=True), at_least(0.9, "ours"))


@statement_claim(
    where="Theorem 2.1, (2.4), (2.5)",
    statement="The privacy loss of the conditional mechanism is at most (1 + gamma*) k epsilon.",
    paper_value="(1 + gamma*) k epsilon",
    unit=LOSS_RATIO,
    note=(
        f"{NO_PROOF.format(22)} {ENUMERATED} All pairs of datasets that meet one of eight "
        "invariants are compared. Five mechanisms are random, and one is extreme. The ratio is 1 "
        "with geometric noise, and below 1 for random mechanisms."
    ),
)
def cdp_conditional_private(table):
    return within_bound(table, "conditional loss")


@statement_claim(
    where="Theorem 2.1, (2.5)",
    statement="The constant gamma* is between 0 and 1.",
    paper_value="from 0 to 1",
    unit="distances k at which it is not",
    note=f"{NO_PROOF.format(22)} The settings are those of the claim cdp-conditional-private.",
)
def cdp_gamma_range(table):
    return without_failures(table, "gamma is between 0 and 1")


@statement_claim(
    where="Section 2.2",
    statement="Conditioning costs at most twice the budget of the unconstrained mechanism.",
    paper_value="2 k epsilon",
    unit=LOSS_RATIO,
    note=(
        f"{NO_PROOF.format(22)} The settings are those of the claim cdp-conditional-private. A "
        "mechanism with three outputs, of which two are in the invariant set, is nearest to the "
        "bound. The factor of two is therefore the smallest one for all mechanisms."
    ),
)
def cdp_twice_the_budget(table):
    return within_bound(table, "twice the budget")


@statement_claim(
    where="Section 5.1",
    statement="With gamma = 1 the bound of Theorem 2.1 is likely loose.",
    paper_value="loose",
    unit="pairs of datasets that attain the bound",
    note=(
        f"{NO_PROOF.format(16)} The noise is double geometric. Other mechanisms approach the bound "
        "(claim cdp-twice-the-budget)."
    ),
)
def cdp_loose_bound(table):
    return without_failures(table, "bound is not attained")


@statement_claim(
    where="Section 2.2, after Theorem 2.1",
    statement=(
        "Under invariants, the posterior probability of a record is within a factor of "
        "e^((1 + gamma) epsilon) of its prior probability."
    ),
    paper_value="e^((1 + gamma) epsilon)",
    unit=SHIFT_RATIO,
    note=(
        f"{NO_PROOF.format(14)} {ENUMERATED} Gamma is gamma* for neighbours. The other records are "
        "known. The ratio is 1 for a count of 4 records."
    ),
)
def cdp_constrained_posterior(table):
    return within_bound(table, "constrained posterior, others known")


@statement_claim(
    where="Section 2.2, after Theorem 2.1, independent records",
    statement="The same bound holds if the records are independent without the invariants.",
    paper_value="e^((1 + gamma) epsilon)",
    unit=SHIFT_RATIO,
    if_differs="depends on the reading",
    note=(
        "Invariants make the records dependent, so that a record tells about others. If the number "
        "of ones is 0, 5 or 6, the bound fails even with gamma = 1. With one margin of a 2 x 2 "
        "table it fails with gamma* (entry 18 of the errata)."
    ),
)
def cdp_constrained_posterior_independent(table):
    return within_bound(table, "constrained posterior, independent records")


@statement_claim(
    where="Section 2.3",
    statement="Rejection sampling from the unconstrained mechanism is inefficient.",
    paper_value="1.68 (Algorithm 1)",
    unit="% of proposals accepted for Table 1",
    note="The rate is exact. It is compared with the printed rate of Algorithm 1.",
)
def cdp_rejection(table):
    row = only_row(select_statements(table, "rejection sampling"))
    return Evidence(quantity(row, "value", exact=True), at_most(1.68, "paper"))


@statement_claim(
    where="Section 2.3, Algorithm 1",
    statement="Algorithm 1 has the conditional mechanism as its target, without its constant.",
    paper_value="the target",
    unit="states and transitions for which it fails",
    note=(
        f"{NO_PROOF.format(4)} The transition matrix of a small table is computed in rational "
        "arithmetic from weights that are not normalized. The target is stationary, and all states "
        "are one step apart."
    ),
)
def cdp_algorithm_target(table):
    return without_failures(table, "target of Algorithm 1")


@statement_claim(
    where="Table 1, top",
    statement=(
        "The confidential table has 130 females, 126 males, 43 children and 213 persons of voting "
        "age, 256 in total."
    ),
    paper_value="130, 126, 43, 213, 256",
    unit="totals that differ from the sums of the cells",
    transcription=True,
)
def cdp_table_totals(table):
    return without_failures(table, "totals of Table 1")


@statement_claim(
    where="Section 3",
    statement="The negative binomial distribution of a cell has the mean 5.26 and variance 5.54.",
    paper_value="5.26 and 5.54",
    unit="printed moments that differ",
    transcription=True,
    note="The mean is 100 x 0.05 / 0.95, and the variance is the mean divided by 0.95.",
)
def cdp_negative_binomial(table):
    return without_failures(table, "moments of a cell")


@statement_claim(
    where="Section 3, Fig 1",
    statement=(
        "The projected mechanism at epsilon = 1 is mostly as accurate as the raw mechanism at "
        "epsilon = 1."
    ),
    paper_value="mostly on par",
    unit="persons, l1 and l2 distance of the projected mechanism (medians over the tables)",
    tables=["sex_by_age_medians"],
    figures=["sex_by_age_distances"],
    note="The criterion, medians within 10 % of each other, is our reading of the words.",
)
def cdp_projection_on_par(medians):
    rows = medians[medians["method"] == "projected"]
    raw = medians[medians["method"] == "raw"].set_index("distance")["median"]
    ratios = rows["median"] / rows["distance"].map(raw)
    near = rows[ratios.between(0.9, 1.1)]
    return Evidence(
        quantity(rows, "median", error="se"),
        equals(2, "ours"),
        statistic=count(near, among=rows),
        statistic_name="distances within 10 % of those of the raw mechanism",
    )


@statement_claim(
    where="Section 4, (4.6); Appendix A",
    statement="The noise of the conditional mechanism is Laplace noise of scale 1 / epsilon.",
    paper_value="Laplace, 1 / epsilon",
    unit="values of the density that differ",
    note=f"{NO_PROOF.format(3)} The density is integrated numerically at three epsilons.",
)
def cdp_conditional_density(table):
    return without_failures(table, "conditional density")


@statement_claim(
    where="(4.7); Appendix A, (A.1), (A.2)",
    statement="The noise of the projections has the printed densities.",
    paper_value="closed forms",
    unit="values and coefficients that differ",
    note=(
        "Densities are integrated numerically at three epsilons and eight weights beta, with 1/2 "
        "and 1. The sum of the three regions, the weights of Remark I and the mixture (4.7) are "
        "checked in rational arithmetic. This is no proof."
    ),
)
def cdp_projected_density(table):
    names = ("projected density", "three regions", "weights of the mixture")
    return without_failures(table, *names, "mixture of Laplace and signed Gamma")


@statement_claim(
    where="Section 4, Example 4.1",
    statement=(
        "A signed Gamma variable of shape 2 is the sum of two independent Laplace variables of the "
        "same scale."
    ),
    paper_value="equal",
    unit="arguments at which the characteristic functions differ",
    if_differs="error in the paper",
    note=(
        "At epsilon = 1 the functions are (1 - t^2) / (1 + t^2)^2 and 1 / (1 + t^2)^2, and the "
        "variances are 6 and 4. The sum has the mixture (4.7). The conclusion, that it is more "
        "variable than one Laplace variable, is true (entry 20 of the errata)."
    ),
)
def cdp_signed_gamma(table):
    return without_failures(table, "sum of two Laplace variables")


@statement_claim(
    where="Example 5.1",
    statement="Without a restriction, the conditional mechanism is the unconstrained one.",
    paper_value="gamma = 0",
    unit=LOSS_RATIO,
    if_differs="depends on the reading",
    note=(
        "By (2.1), the invariant set has only values of the query. Noisy counts can be negative or "
        "too large, so that conditioning changes them, and the loss exceeds epsilon. The statement "
        "holds if the invariant set has all outputs (entry 19 of the errata)."
    ),
)
def cdp_trivial_invariants(table):
    return within_bound(table, "trivial invariants")


@statement_claim(
    where="Appendix A, Theorem A.1",
    statement=(
        "If f decreases in |x| and f e^(alpha |x|) increases, then f(x - a) / f(x - b) is at most "
        "e^(alpha |a - b|)."
    ),
    paper_value="e^(alpha |a - b|)",
    unit=LARGEST_RATIO,
    note=(
        f"{NO_PROOF.format(6)} Random functions of three norms in the plane meet both conditions. "
        "Log-ratios are compared on a grid. The ratio is nearest to 1 for the maximum norm."
    ),
)
def cdp_theorem_a1(table):
    return within_bound(table, "Theorem A.1")


@statement_claim(
    where="Appendix A, after Theorem A.1",
    statement=(
        "The density of the projected noise meets both conditions of Theorem A.1, by the printed "
        "derivatives."
    ),
    paper_value="closed forms",
    unit="coefficients and signs that differ",
    note=(
        f"{NO_PROOF.format(3)} Coefficients are compared in rational arithmetic for six weights. "
        "For beta above 1/2, c = 1 / (2 beta) is enough and a smaller c is not."
    ),
)
def cdp_density_conditions(table):
    return without_failures(table, "derivatives of the density")
