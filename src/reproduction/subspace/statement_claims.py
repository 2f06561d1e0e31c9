"""Claims on the statements of SDP that are checked by exact computation.

SDP is *Subspace Differential Privacy*.
"""

from functools import partial

from reproduction.jobs.claims import (
    FAILURES,
    LARGEST_RATIO,
    NO_PROOF,
    Evidence,
    at_least,
    at_most,
    between,
    claim,
    equals,
    extreme,
    only_row,
    quantity,
    select_statements,
    within_bound,
    without_failures,
)

statement_claim = partial(
    claim, paper="SDP", experiment="Statements", tables=["subspace_statements"]
)
campus_claim = partial(claim, paper="SDP", experiment="Campus")
DELTA_RATIO = "delta divided by the delta that the statement allows (maximum over the settings)"
DRAWN = (
    f"{NO_PROOF.format(5)} Each setting has a query, an invariant and random mechanisms with "
    "finitely many outputs. Delta is computed exactly at four epsilons, over all pairs of "
    "neighbouring datasets of two records."
)


@statement_claim(
    where="Examples 2.3 and 2.4",
    statement=(
        "The all-one invariant keeps the number of records exact, and the invariant (1, 0, 1, 0) "
        "the number of odd values."
    ),
    paper_value="exact",
    unit=FAILURES,
    note="All datasets of one to four records of four values are checked.",
)
def sdp_examples(table):
    return without_failures(table, "examples of invariants")


@statement_claim(
    where="Section 2.1, footnote 1",
    statement="Some independent rows of an invariant have its row rank and determine all its rows.",
    paper_value="the same row rank",
    unit=FAILURES,
    note=f"{NO_PROOF.format(3)} The row spaces are compared in rational arithmetic.",
)
def sdp_independent_rows(table):
    return without_failures(table, "independent rows")


@statement_claim(
    where="Proposition 2.7",
    statement="A mechanism that is private within a subspace is as private within a smaller one.",
    paper_value="as private",
    unit=DELTA_RATIO,
    note=(
        f"{DRAWN} The subspaces are nested and have all dimensions. The ratio is nearest to 1 for "
        "a 2 x 2 table."
    ),
)
def sdp_nested_subspaces(table):
    return within_bound(table, "nested subspaces")


@statement_claim(
    where="Corollary 2.8",
    statement="A differentially private mechanism is as private within every linear subspace.",
    paper_value="as private",
    unit=DELTA_RATIO,
    note=(
        f"{DRAWN} There are two or three subspaces in each setting. The ratio is nearest to 1 for "
        "a 2 x 2 table."
    ),
)
def sdp_any_subspace(table):
    return within_bound(table, "any subspace")


@statement_claim(
    where="Section 2.3, after Proposition 2.9",
    statement=(
        "Exact totals by age and exact totals by zip code together may reveal the data of each "
        "individual."
    ),
    paper_value="may",
    unit="tables that both totals determine and no single one does (largest of three settings)",
    note=(
        "All tables of three or four persons with two or three rows and columns are enumerated. "
        "The largest number is that of 3 x 3 tables."
    ),
)
def sdp_two_releases(table):
    rows = select_statements(table, "two releases determine all cells")
    return Evidence(extreme(rows, "value", "max", exact=True), at_least(1, "paper"))


@statement_claim(
    where="Section 2.3, after Proposition 2.9",
    statement="Post-processing that acts only on the null space leaves the privacy.",
    paper_value="immune",
    unit=DELTA_RATIO,
    note=(
        f"{DRAWN} The function of the output is random, and has four values. The ratio is nearest "
        "to 1 for a 2 x 2 table."
    ),
)
def sdp_post_processing(table):
    return within_bound(table, "post-processing")


@statement_claim(
    where="Section 2.3, after Proposition 2.9",
    statement=(
        "The part in the row space of any release that respects the invariants is revealed "
        "precisely."
    ),
    paper_value="precisely",
    unit="pairs of datasets whose parts do not differ by what they reveal",
    note=(
        f"{NO_PROOF.format(5)} Delta is 1 if the invariants of two datasets differ, and 0 if they "
        "are equal."
    ),
)
def sdp_row_space_released(table):
    return without_failures(table, "row space is released")


@statement_claim(
    where="Section 2.3, end",
    statement="A mixture of two mechanisms that are private within a subspace is as private.",
    paper_value="as private",
    unit=DELTA_RATIO,
    note=(
        f"{DRAWN} The weights of the mixture are 1/3 and 2/3. The ratio is nearest to 1 for an "
        "exact number of odd values."
    ),
)
def sdp_mixture(table):
    return within_bound(table, "mixture")


@statement_claim(
    where="Theorem 3.1",
    statement="The projection of a private mechanism is as private within the null space.",
    paper_value="epsilon, delta",
    unit=DELTA_RATIO,
    note=f"{DRAWN} The mechanisms are not additive. The ratio is 1 under a weighted total.",
)
def sdp_projection_private(table):
    return within_bound(table, "projection")


@statement_claim(
    where="Theorem 3.1; Corollary 3.2; Theorem 3.3",
    statement="Projected and extended mechanisms keep the invariants exactly.",
    paper_value="with probability one",
    unit="outputs with other invariants",
    note=f"{NO_PROOF.format(5)} All outputs of all datasets of two records are checked exactly.",
)
def sdp_invariants_kept(table):
    names = ("projection", "projected noise", "extension")
    return without_failures(table, *(f"{name} keeps the invariants" for name in names))


@statement_claim(
    where="Corollary 3.2",
    statement="Projected noise of an additive private mechanism is as private in the null space.",
    paper_value="epsilon, delta",
    unit=DELTA_RATIO,
    note=(
        f"{DRAWN} The noise has values from -1 to 1 in each answer. The ratio is 1 under a "
        "weighted total. The claim sdp-noise-is-added has the form of the mechanism."
    ),
)
def sdp_projected_noise(table):
    return within_bound(table, "projected noise")


@statement_claim(
    where="Corollary 3.2",
    statement="The projection of an additive mechanism adds the projected noise to the answers.",
    paper_value="A(x) + Pi_N e",
    unit="outputs that differ",
    note=f"{NO_PROOF.format(5)} All outputs are compared in integer arithmetic.",
)
def sdp_noise_is_added(table):
    return without_failures(table, "projected noise is added")


@statement_claim(
    where="Theorem 3.3, if",
    statement=(
        "A private mechanism in the null space, with the row space of the answers added, is as "
        "private within the null space."
    ),
    paper_value="epsilon, delta",
    unit=DELTA_RATIO,
    note=f"{DRAWN} The ratio is 1 in all settings, because the null space has all the noise.",
)
def sdp_extension_private(table):
    return within_bound(table, "extension")


@statement_claim(
    where="Theorem 3.3, only if",
    statement=(
        "Every induced subspace private mechanism, without the row space of the answers, is "
        "private and has outputs in the null space."
    ),
    paper_value="epsilon, delta",
    unit=FAILURES,
    note=(
        f"{DRAWN} The mechanisms keep the invariants, and have other weights for each dataset. "
        "Outputs and delta are compared exactly."
    ),
)
def sdp_extension_converse(table):
    return without_failures(table, "converse of extension")


@statement_claim(
    where="After Corollary 3.6",
    statement="The l2 sensitivity within the null space is at most that of the answers.",
    paper_value="at most",
    unit=LARGEST_RATIO,
    note=(
        f"{NO_PROOF.format(5)} The ratio is 1, except under both margins of a 3 x 3 table. In the "
        "others, the longest difference is in the null space."
    ),
)
def sdp_smaller_sensitivity(table):
    return within_bound(table, "sensitivity within the null space")


@statement_claim(
    where="Lemma 3.7",
    statement="Laplace noise of scale Delta_1(A) / epsilon is epsilon-private.",
    paper_value="epsilon",
    unit="exact loss divided by epsilon (maximum over the settings)",
    note=(
        f"{NO_PROOF.format(8)} There are four queries and two epsilons. The ratio is 1 in all of "
        "them."
    ),
)
def sdp_laplace_private(table):
    return within_bound(table, "Laplace noise")


@statement_claim(
    where="Corollary 3.10",
    statement=(
        "The least error under invariants is the least error of private answers to the query "
        "projected onto the null space."
    ),
    paper_value="equal",
    unit="settings in which the two least errors differ",
    note=(
        f"{NO_PROOF.format(16)} The least errors are those of all mechanisms with outputs on a "
        "grid, by two linear programmes. There are four queries, two epsilons, and delta is 0 or "
        "0.1. The criterion is a relative difference of at most 1e-7 in each setting."
    ),
)
def sdp_equal_optimum(table):
    return without_failures(table, "least error")


@statement_claim(
    where="After Corollary 3.10",
    statement="The error of a mechanism in the null space is the same in an orthonormal basis.",
    paper_value="invariant under rotation",
    unit="outputs whose squared error differs by more than 1e-12 of its size",
    note=f"{NO_PROOF.format(5)} All outputs of random mechanisms are compared.",
)
def sdp_rotation(table):
    return without_failures(table, "error in coordinates")


@statement_claim(
    where="Theorem 3.11",
    statement="The correlated Gaussian mechanism has the guarantee with epsilon and delta.",
    paper_value="epsilon, delta",
    unit=DELTA_RATIO,
    note=(
        f"{NO_PROOF.format(80)} There are five workloads, four epsilons up to 1 and four deltas "
        "down to 1e-12. Our standard deviation is exact and not that of Lemma 3.4. The ratio is "
        "largest for a tree at delta = 0.001."
    ),
)
def sdp_correlated_private(table):
    return within_bound(table, "delta of correlated noise")


@statement_claim(
    where="Theorem 3.11",
    statement=(
        "For small epsilon and delta, the error of correlated Gaussian noise is of the order "
        "log^2(n - n_c) log(1/delta) times the least error."
    ),
    paper_value="of order log^2(n - n_c) log(1/delta)",
    unit=(
        "error divided by a lower bound for additive noise, and by (log2 m)^2 ln(1/delta) "
        "(maximum over the settings)"
    ),
    note=(
        f"{NO_PROOF.format(80)} An order has no constant, and the factor of 10 is ours. The least "
        "error is replaced by a lower bound for additive noise. The ratio is largest for both "
        "margins of a 3 x 3 table at epsilon = 1 and delta = 1e-12, and smaller at smaller "
        "epsilons."
    ),
)
def sdp_correlated_budgets(table):
    rows = select_statements(table, "error of correlated noise")
    return Evidence(extreme(rows, "ratio", "max", exact=True), at_most(10, "ours"))


@statement_claim(
    where="Section 3.4, after Theorem 3.11",
    statement=(
        "The error of K-norm noise within the null space is of the order log^2(n - n_c) times the "
        "least error."
    ),
    paper_value="of order log^2(n - n_c)",
    unit=(
        "error divided by a lower bound for additive noise, and by (log2 m)^2 (maximum over the "
        "settings)"
    ),
    note=(
        f"{NO_PROOF.format(12)} There are six workloads and two epsilons. The noise is plain "
        "K-norm noise, without the recursion of the cited paper. The factor of 10 is ours. The "
        "ratio is largest for both margins of a 3 x 3 table."
    ),
)
def sdp_k_norm_near_optimal(table):
    rows = select_statements(table, "error of K-norm noise")
    return Evidence(extreme(rows, "ratio", "max", exact=True), at_most(10, "ours"))


@statement_claim(
    where="Corollary 4.1",
    statement="Projection of noise with mean zero is unbiased.",
    paper_value="unbiased",
    unit="datasets whose mean output differs from the answers",
    note=f"{NO_PROOF.format(5)} The means of symmetric random noise are computed exactly.",
)
def sdp_projection_unbiased(table):
    return without_failures(table, "projected noise is unbiased")


@statement_claim(
    where="Section 4, Unbiasedness",
    statement="An extended mechanism is unbiased if the mechanism that it extends is unbiased.",
    paper_value="unbiased",
    unit="datasets whose bias differs from that of the extended mechanism",
    note=(
        f"{NO_PROOF.format(5)} Biased and unbiased random mechanisms are extended. The bias is the "
        "same before and after, exactly."
    ),
)
def sdp_extension_unbiased(table):
    return without_failures(table, "bias of extension")


@statement_claim(
    where="Section 4, after Theorem 4.2",
    statement="In general, projection aligns closer with marginalization than with conditioning.",
    paper_value="closer",
    unit=(
        "distance from the marginal covariance, divided by that from the conditional covariance "
        "(maximum over the settings)"
    ),
    note=(
        f"{NO_PROOF.format(6)} The noise is Gaussian with unequal variances or correlations, or "
        "Laplace. The distance from the marginal covariance is a rounding error in all settings, "
        "because the projected noise has the marginal distribution."
    ),
)
def sdp_marginal(table):
    return within_bound(table, "marginal distribution")


@statement_claim(
    where="Section 5.1",
    statement="Epsilon is 0.192 = 4 x 0.16 x 0.3.",
    paper_value="0.192",
    unit=FAILURES,
    transcription=True,
)
def sdp_printed_epsilon(table):
    return without_failures(table, "printed epsilon")


@campus_claim(
    where="Section 5.2",
    statement="The campus has 14 x 24 x 20 = 6,720 cells.",
    paper_value="6720",
    unit="cells",
    tables=["subspace_campus_constraints"],
    transcription=True,
)
def sdp_wifi_cells(constraints):
    return Evidence(quantity(only_row(constraints), "cells", exact=True), equals(6720, "paper"))


@campus_claim(
    where="Section 5.2",
    statement="The numerous constraints cause a slight loss of scale of the errors.",
    paper_value="slight loss",
    unit="standard deviation of a cell, for noise of standard deviation 1",
    tables=["subspace_campus_constraints"],
    note=(
        "The value is exact and equal in all cells. We read slight as a loss from 1 % to the 12 % "
        "of the printed median."
    ),
)
def sdp_wifi_scale(constraints):
    return Evidence(quantity(only_row(constraints), "sd", exact=True), between(0.88, 0.99, "ours"))


@campus_claim(
    where="Section 5.2; read as variances",
    statement=(
        "The variance of a repetition over its cells has the median 0.88, and 5 % and 95 % "
        "quantiles of 0.86 and 0.91."
    ),
    paper_value="0.88 (0.86 to 0.91)",
    unit="median (5 % and 95 % quantiles) of the variance",
    tables=["subspace_campus_laws"],
    figures=["subspace_campus"],
    note=(
        "The paper prints standard deviations, and the reading as variances is ours (entry 7 of "
        "the errata). The criterion is one unit of the last digit. The claim sdp-wifi-sd judges "
        "the printed words."
    ),
)
def sdp_wifi_variance(readings):
    row = only_row(readings[readings["reading"] == "variance of each repetition over cells"])
    return Evidence(
        quantity(row, "median", limits=("q05", "q95"), exact=True),
        at_most(0.01, "ours"),
        statistic=quantity(row, "off", exact=True),
        statistic_name="is the largest difference of the three numbers from the printed ones",
    )


@statement_claim(
    where="Section 6",
    statement=(
        "In general, invariants of binary attributes cannot be kept by noise that is independent "
        "of the data."
    ),
    paper_value="cannot",
    unit="noise vectors other than zero with binary outputs for all data",
    note=f"{NO_PROOF.format(4)} All noise vectors for one to four binary attributes are tried.",
)
def sdp_binary_attributes(table):
    return without_failures(table, "binary attributes")
