"""Claims on the statements of the slides (SWAP) that are checked by exact computation.

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

from dataclasses import replace
from functools import partial

from reproduction.jobs.claims import (
    FAILURES,
    LARGEST_RATIO,
    NO_PROOF,
    Evidence,
    Requirement,
    claim,
    count,
    equals,
    extreme,
    farthest,
    total,
    within_bound,
    without_failures,
)

statement_claim = partial(
    claim, paper="SWAP", experiment="Statements", tables=["swapping_statements"]
)
massachusetts_claim = partial(claim, paper="SWAP", experiment="Massachusetts in 1940")
TWO_TABLES = "Numerical demonstration, two tables"
EXTENDING = "Extending neighbour divergences to metrics"
PROOF = "Intuition of the proof that permutation swapping is DP"
TDA_THEOREM = "Theorem: TDA satisfies DP, subject to its invariants"


@statement_claim(
    where="Differential privacy; Four components of a DP flavour",
    statement="Differential privacy bounds the loss by epsilon times the distance of the datasets.",
    paper_value="at most epsilon times the distance",
    unit="loss divided by the distance times the largest loss of neighbours (maximum)",
    note=(
        f"{NO_PROOF.format(2)} Two records of three values are released by randomised response, "
        "and the divergences are MULT and D_nor. The ratio is 1 for both."
    ),
)
def swap_lipschitz(table):
    return within_bound(table, "loss by distance")


@statement_claim(
    where="Output divergence and data divergence",
    statement="The multiplicative distance and the normalised Renyi metric are metrics.",
    paper_value="metric",
    unit="divergence divided by the sum of the divergences from a third distribution (maximum)",
    note=(
        f"{NO_PROOF.format(4)} The triangle inequality is checked on random distributions and on "
        "shifted Gaussian noise. It is an equality for shifts in one direction."
    ),
)
def swap_metrics(table):
    return within_bound(table, "divergence is a metric")


@claim(
    paper="SWAP",
    experiment="Budget",
    tables=["swapping_variants"],
    where="Swapping satisfies DP, subject to its invariants",
    statement="At swap rates above 1/2, the loss is at most the larger of two terms.",
    paper_value="max(ln o, ln(b + 1) - ln o) for p > 1/2",
    unit="settings in which the exact worst case exceeds the bound",
    note=(
        f"{NO_PROOF.format(36)} There are six sizes of strata, and six rates from 0.6 to 0.99. At "
        "high rates and in small strata, the worst case equals the bound up to rounding."
    ),
)
def swap_budget_above_half(variants):
    rows = variants.query('variant == "listing" and rate > 0.5')
    return Evidence(
        count(rows[~rows["within"].astype(bool)], among=rows, exact=True), equals(0, "paper")
    )


@statement_claim(
    where="Examples from the US Decennial Censuses",
    statement="For swapping, epsilon is between 9.37 and 19.38.",
    paper_value="9.37 to 19.38",
    unit="ends of the range that differ from those of the 12 settings for 2020",
    transcription=True,
)
def swap_printed_range(table):
    return without_failures(table, "printed range")


@statement_claim(
    where="The TopDown algorithm",
    statement="Gaussian noise satisfies DP under the Hamming distance and D_nor.",
    paper_value="at most the budget times the distance",
    unit=LARGEST_RATIO,
    note=(
        f"{NO_PROOF.format(3)} The noise is discrete Gaussian, at six orders from 1 to 8. The "
        "budget is 1 / (sigma sqrt(2)), which the slides do not print, and the ratio is 1."
    ),
)
def swap_gaussian_loss(table):
    return within_bound(table, "D_nor of Gaussian noise")


@statement_claim(
    where=f"The TopDown algorithm; {TDA_THEOREM}",
    statement=(
        "Post-processing that restores the invariants leaves the budget, for datasets with equal "
        "invariants."
    ),
    paper_value="the same budget",
    unit=LARGEST_RATIO,
    note=(
        f"{NO_PROOF.format(2)} Two counts with a fixed total of 4 receive discrete Gaussian noise. "
        "The ratio is nearest to 1 for sigma = 1. The claim swap-topdown-budget has the printed "
        "budgets."
    ),
)
def swap_topdown_private(table):
    return within_bound(table, "TopDown with an invariant")


@statement_claim(
    where=f"{TDA_THEOREM}; by kinds of invariants",
    statement=(
        "If one of the three printed kinds of TopDown's invariants may differ, no budget is finite."
    ),
    paper_value="no finite budget",
    unit="subsets of kinds and pairs of datasets with a finite D_nor",
    note=(
        f"{NO_PROOF.format(7)} All proper subsets of population, housing units and group quarters "
        "are checked on datasets with two places. The claim swap-proper-subset concerns single "
        "sums."
    ),
)
def swap_proper_subset_of_kinds(table):
    return without_failures(table, "proper subset of kinds")


@claim(
    paper="SWAP",
    experiment="Flavours",
    tables=["swapping_redundant"],
    where=f"{TDA_THEOREM}; by single sums",
    statement="If any one invariant is left out, no budget is finite.",
    paper_value="no finite budget",
    unit="sums of a 4 x 4 table that are left out without effect, of 8",
    if_differs="depends on the reading",
    note=(
        "Entry 9 of the errata has the argument. A sum that follows from the others can be left "
        "out, and the budget stays the same. The slides do not show whether TopDown's list of "
        "invariants has such an entry. A revised paper exists (arXiv 2501.08449), which we have "
        "not read."
    ),
)
def swap_proper_subset(redundant):
    dropped = redundant[redundant["dropped"] != "nothing"]
    return Evidence(
        count(dropped[dropped["implied"].astype(bool)], among=dropped, exact=True),
        equals(0, "paper"),
    )


@statement_claim(
    where="Sufficiency and necessity of restricting the data universe, 3",
    statement=(
        "If a mechanism varies between datasets with equal invariants, its budget is positive."
    ),
    paper_value="> 0",
    unit="pairs of different distributions with a divergence of 0",
    note=(
        f"{NO_PROOF.format(2)} All datasets of three and of four swapped households are compared, "
        "with MULT and D_nor, at a swap rate of 1/4."
    ),
)
def swap_positive_budget(table):
    return without_failures(table, "positive budget")


@statement_claim(
    where=EXTENDING,
    statement=(
        "The distances d_HAM and d_SymDiff are the lengths of the shortest paths between "
        "neighbours."
    ),
    paper_value="shortest path",
    unit=FAILURES,
    note="All pairs of datasets of up to three records of three values are checked.",
)
def swap_shortest_paths(table):
    return without_failures(table, "extended distance")


@statement_claim(
    where=EXTENDING,
    statement="For datasets of equal size, d_HAM is half the symmetric difference.",
    paper_value="1/2",
    unit=FAILURES,
    note=(
        "All pairs of datasets of up to three records of three values are checked. The claim "
        "swap-shortest-paths checks d_HAM against shortest paths."
    ),
)
def swap_half_difference(table):
    return without_failures(table, "half the symmetric difference")


@statement_claim(
    where=EXTENDING,
    statement="The extended distances are metrics.",
    paper_value="metric",
    unit="triples of datasets that violate the triangle inequality",
    note="All triples of datasets of up to three records of three values are checked.",
)
def swap_triangle_inequality(table):
    return without_failures(table, "triangle inequality")


@statement_claim(
    where="Permutation Swapping, listing",
    statement=(
        "The listing selects records, draws again after a single selection, and then draws a "
        "uniform derangement."
    ),
    paper_value="listing",
    unit="permutations with another probability than the one on which the bound rests",
    note=(
        f"{NO_PROOF.format(15)} All selections of 0 to 4 records are enumerated in rational "
        "arithmetic, at three swap rates. The bullets of another slide do not mention the second "
        "draw (entry 10 of the errata)."
    ),
)
def swap_listing(table):
    return without_failures(table, "listing")


@statement_claim(
    where="Permutation Swapping, listing, lines 2 and 3",
    statement="A stratum of one record is left as it is.",
    paper_value="n_j = 1",
    unit="single records that are moved, of 100",
)
def swap_single_record(table):
    return without_failures(table, "single records")


@statement_claim(
    where=f"{PROOF}, steps 2 to 4",
    statement=(
        "A derangement of m records leads from one dataset to the other, it maps the permutations "
        "one to one, and it changes the number of moved records by at most m."
    ),
    paper_value="steps 2 to 4",
    unit=FAILURES,
    note=(
        "All datasets of 2 to 4 records of two counties and two tenures are checked, and all "
        "permutations of 2 to 5 records. The number m is the Hamming distance."
    ),
)
def swap_proof_steps(table):
    return without_failures(table, "proof, step 2", "proof, step 3", "proof, step 4")


@statement_claim(
    where=f"{PROOF}, steps 5 and 6",
    statement=(
        "At odds o of at most 1, the ratio of the probabilities of two permutations is at most "
        "o^-m (b + 1)^m."
    ),
    paper_value="o^-m (b + 1)^m",
    unit=LARGEST_RATIO,
    note=(
        f"{NO_PROOF.format(12)} All permutations of 2 to 5 records are checked at three swap "
        "rates. The ratio is nearest to 1 for five records, with 0.61 at each rate."
    ),
)
def swap_proof_bound(table):
    return within_bound(table, "proof, step 6")


@massachusetts_claim(
    where=TWO_TABLES,
    statement="The swap keeps the number of rented dwellings in the state.",
    paper_value="708,619",
    unit="rented dwellings after the swap",
    tables=["swapping_unmixed"],
    transcription=True,
)
def swap_1940_rented(dwellings):
    rented = dwellings[dwellings["tenure"] == "rented"]
    return Evidence(total(rented, "after", exact=True), equals(708619, "paper"))


@massachusetts_claim(
    where=TWO_TABLES,
    statement="The swap keeps the number of dwellings in each of the 14 counties.",
    paper_value="14 totals",
    unit="printed totals that differ from the sum of their cells, or after the swap",
    tables=["swapping_statements"],
    transcription=True,
)
def swap_1940_totals(table):
    return without_failures(table, "printed totals")


@massachusetts_claim(
    where=TWO_TABLES,
    statement="Each of the 28 printed cells is that of one swap at 50 % within household sizes.",
    unit="owned dwellings of the county that is farthest from its mean",
    tables=["swapping_massachusetts"],
    figures=["swapping_massachusetts"],
    note=(
        "The totals of the counties are kept, so that the rented dwellings have the same distance. "
        "The household sizes are our assumption, in two scenarios with sizes. The scenario that is "
        "fitted to the printed table is not judged. The claim swap-1940-law judges all counties "
        "together."
    ),
)
def swap_1940_cells(counties):
    rows = counties[counties["scenario"].isin(["equal mix", "persons per dwelling"])]
    unit = "standard deviations from the exact mean (largest over 14 counties and two scenarios)"
    return farthest(rows, "z", 4, unit, value="after", paper="mean")


@massachusetts_claim(
    where="Numerical demonstration, two tables and figure of errors",
    statement="The error of the printed table is that of one swap at 50 %.",
    unit="percent, expected error of a swap within household sizes",
    tables=["swapping_mape"],
    figures=["swapping_mape"],
    note=(
        "The error of the printed table follows from its printed cells. Its distance from the "
        "expected error is in standard deviations of the simulated swaps. The household sizes are "
        "our assumption, in two scenarios with sizes. The slides print no error in their text."
    ),
)
def swap_1940_error(swaps):
    rows = swaps[swaps["scenario"].isin(["equal mix", "persons per dwelling"])]
    rows = rows[rows["printed_z"].notna()]
    unit = "standard deviations from the expected error (largest over two scenarios)"
    found = farthest(rows, "printed_z", 4, unit, value="expected", draws="runs")
    fewest = Requirement("simulated swaps", extreme(rows, "runs", "min"), 20)
    return replace(found, decides=fewest)
