"""Claims of SWAP, the slides on swapping, on the study `swapping`.

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

import math
from functools import partial

import pandas as pd

from reproduction.jobs.claims import (
    Evidence,
    at_least,
    at_most,
    claim,
    count,
    equals,
    extreme,
    only_row,
    quantity,
    total,
)

swap_claim = partial(
    claim, paper="SWAP", experiment="Swapping", tables=["swapping_mape"], figures=["swapping_mape"]
)
budget_claim = partial(claim, paper="SWAP", experiment="Budget", figures=["swapping_budget"])
massachusetts_claim = partial(claim, paper="SWAP", experiment="Massachusetts in 1940")
flavour_claim = partial(claim, paper="SWAP", experiment="Flavours")
guide_claim = partial(
    claim, paper="SWAP", experiment="Perverse guide", tables=["swapping_perverse_guide"]
)

SCENARIOS_NOTE = (
    "The records may not be redistributed, so that the household sizes of the counties are our "
    "assumption, in several scenarios (column scenario)."
)


@swap_claim(
    where="Data swapping visualisation",
    statement=(
        "Swapping keeps the joint counts of the held columns, and those of the swap key and the "
        "swapped columns."
    ),
    paper_value="invariant",
    unit="totals that change",
    note=(
        "All totals of all simulated swaps of Massachusetts are counted again as integers. "
        f"{SCENARIOS_NOTE}"
    ),
)
def swap_invariants(swaps):
    return Evidence(total(swaps, "violations"), equals(0, "paper"))


@swap_claim(
    where="Numerical demonstration, figure of errors by swap rate",
    statement="The error of the swapped table grows with the swap rate.",
    unit="steps of the swap rate at which the median error does not grow",
    note=(
        "The error is the mean absolute percentage error. The slides have a figure of it by swap "
        "rate, which our text copy lacks. Their text does not state that it grows. "
        f"{SCENARIOS_NOTE}"
    ),
)
def swap_error_grows(swaps):
    steps = swaps[swaps["grows"].notna()]
    return Evidence(count(steps[~steps["grows"].astype(bool)], among=steps), equals(0, "ours"))


@budget_claim(
    where="Swapping satisfies DP, subject to its invariants",
    statement=(
        "Between datasets with equal invariants, the loss per unit of Hamming distance is at most "
        "the epsilon of the theorem."
    ),
    paper_value="ln(b + 1) - ln(p / (1 - p)) for p <= 1/2",
    unit="nats per unit of Hamming distance, bound minus exact worst case (smallest)",
    tables=["swapping_exact_loss"],
    figures=["swapping_tightness", "swapping_budget"],
    note=(
        "The worst case over all datasets and outputs has a closed form. It nearly attains the "
        "bound for large strata b. The rates of the table are at most 1/2. For given county totals "
        "the loss is smaller (table swapping_universe_loss). The criterion allows for rounding."
    ),
)
def swap_budget_holds(losses):
    return Evidence(extreme(losses, "gap", "min", exact=True), at_least(-1e-12, "paper"))


@budget_claim(
    where="Figure of swap rate and epsilon, note 1",
    statement="For each largest stratum there is a smallest attainable epsilon, which is above 0.",
    paper_value="> 0",
    unit="nats (smallest over the sizes of strata)",
    tables=["swapping_remarks"],
    note="This holds for the bound. The exact loss of a stratum of two is 0 at a rate of 50 %.",
)
def swap_smallest_epsilon(remarks):
    return Evidence(extreme(remarks, "smallest_bound", "min", exact=True), at_least(1e-06, "ours"))


@budget_claim(
    where="Figure of swap rate and epsilon, note 2",
    statement="Two swap rates satisfy each epsilon above the smallest.",
    unit="nats, error of epsilon at the two rates (largest)",
    tables=["swapping_remarks"],
)
def swap_two_rates(remarks):
    return Evidence(extreme(remarks, "two_rates_off", "max", exact=True), at_most(1e-09, "ours"))


@budget_claim(
    where="Figure of swap rate and epsilon, note 3",
    statement="At the same swap rate, epsilon grows with the size of the largest stratum.",
    unit="sizes of strata at which epsilon does not grow, at a rate of 50 %",
    tables=["swapping_remarks"],
)
def swap_larger_stratum(remarks):
    not_growing = remarks[~remarks["grows"].astype(bool)]
    return Evidence(count(not_growing, among=remarks, exact=True), equals(0, "paper"))


def _agreeing(budgets: pd.DataFrame, census: int, number: int) -> Evidence:
    """Count the printed budgets of a census that equal the formula, and require `number`."""
    rows = budgets[(budgets["census"] == census) & budgets["agree"].astype(bool)]
    return Evidence(count(rows, among=budgets, exact=True), equals(number, "paper"))


@budget_claim(
    where="What if the 2020 Census used swapping?",
    statement=(
        "At swap rates of 5 % and 50 %, with six choices of the matching and swapping variables, "
        "the total epsilon is as printed."
    ),
    paper_value="12 values, 9.37 to 19.38",
    unit="printed budgets equal to the formula in all printed digits",
    tables=["swapping_budgets"],
    note=(
        "The sizes of the largest strata are those of the slide. The range 9.37 to 19.38 is also "
        "on another slide."
    ),
    transcription=True,
)
def swap_2020_table(budgets):
    return _agreeing(budgets, 2020, 12)


@budget_claim(
    where="Numerical demonstration, swap rate and epsilon",
    statement=(
        "For Massachusetts in 1940, epsilon at swap rates of 1 %, 5 %, 10 % and 50 % is as printed."
    ),
    paper_value="4 values, 17.08 to 12.48",
    unit="printed budgets equal to the formula in all printed digits",
    tables=["swapping_budgets"],
    transcription=True,
    note="The size of the largest stratum, 264,331, is that of the slide.",
)
def swap_1940_budgets(budgets):
    return _agreeing(budgets, 1940, 4)


@massachusetts_claim(
    where="Numerical demonstration, two tables",
    statement="The swap keeps the number of owned dwellings in the state.",
    paper_value="435,805",
    unit="owned dwellings after the swap",
    transcription=True,
    tables=["swapping_unmixed"],
)
def swap_1940_owned(dwellings):
    owned = dwellings[dwellings["tenure"] == "owned"]
    return Evidence(total(owned, "after", exact=True), equals(435805, "paper"))


@massachusetts_claim(
    where="Numerical demonstration, two tables",
    statement="The printed table is one swap at 50 % within household sizes.",
    unit="chi-square with 13 degrees of freedom, for each scenario of household sizes",
    tables=["swapping_fit"],
    figures=["swapping_massachusetts"],
    note=(
        f"{SCENARIOS_NOTE} The verdict holds for these scenarios only. The scenario that is fitted "
        "to the printed table is not judged. All others must meet the criterion, which a true swap "
        "of a correct scenario fails with a probability of 1 %."
    ),
)
def swap_1940_law(fits):
    assumed = fits[~fits["fitted"].astype(bool)]
    return Evidence(
        quantity(assumed, "chi_square"),
        at_least(0.01, "ours"),
        statistic=extreme(assumed, "p", "min"),
        statistic_name="is the p-value (smallest over the scenarios)",
    )


@massachusetts_claim(
    where="Numerical demonstration, two tables",
    statement="The swap rate of the printed table is 50 %.",
    paper_value="0.5",
    unit="maximum-likelihood estimate of the swap rate, for each scenario of household sizes",
    tables=["swapping_fit"],
    figures=["swapping_rate"],
    note=(
        f"{SCENARIOS_NOTE} The verdict holds for these scenarios only. The scenario that is fitted "
        "to the printed table is not judged. All others must meet the criterion."
    ),
)
def swap_1940_rate(fits):
    assumed = fits[~fits["fitted"].astype(bool)]
    return Evidence(
        quantity(assumed, "rate", error="error"),
        at_most(3, "ours"),
        statistic=extreme(assumed, "rate_z", "max_abs"),
        statistic_name="standard errors from 50 % (largest over the scenarios)",
    )


@flavour_claim(
    where="Does data swapping satisfy differential privacy?",
    statement="Between datasets with different invariants the multiplicative distance is infinite.",
    paper_value="infinite",
    unit="multiplicative distance (smallest over three pairs of datasets)",
    tables=["swapping_necessity"],
    note="The distributions of four swapped households and of integer noise are exact.",
)
def swap_needs_equal_invariants(necessity):
    pairs = ["another county total", "another tenure total", "integer noise, another row total"]
    return Evidence(
        extreme(necessity[necessity["pair"].isin(pairs)], "multiplicative", "min", exact=True),
        equals(math.inf, "paper"),
    )


@flavour_claim(
    where="Sufficiency and necessity of restricting the data universe, 1",
    statement=(
        "If only datasets with equal invariants are compared, the release of the invariants has a "
        "budget of 0."
    ),
    paper_value="0",
    unit="nats, loss if only the totals are released",
    tables=["swapping_necessity"],
)
def swap_invariants_alone(necessity):
    pair = "equal invariants, and only the totals are released"
    row = only_row(necessity[necessity["pair"] == pair])
    return Evidence(quantity(row, "multiplicative", exact=True), equals(0, "paper"))


@flavour_claim(
    where="Examples from the US Decennial Censuses",
    statement="For TopDown, rho^2 = 15.29 gives epsilon = 52.83 at delta = 1e-10.",
    paper_value="52.83",
    unit="epsilon at rho = 15.29 (for all rho that round to 15.29)",
    tables=["swapping_topdown_budget"],
    note=(
        "The rho^2 of this slide is the rho of zCDP (entry 8 of the errata). The formula is rho + "
        "2 sqrt(rho ln(1/delta)), which the slides do not state. Some rho that round to 15.29 have "
        "an epsilon that rounds to 52.83. The criterion is half a unit of the last printed digit."
    ),
)
def swap_topdown_epsilon(budgets):
    row = only_row(budgets[budgets["system"] == "TopDown, PL 94-171 and DHC"])
    return Evidence(
        quantity(row, "slides", limits=("slides_low", "slides_high")),
        at_most(0.005, "paper"),
        statistic=quantity(row, "off_printed"),
        statistic_name="is the distance from the printed epsilon to the nearest of these",
    )


@flavour_claim(
    where="Theorem: TDA satisfies DP, subject to its invariants",
    statement=(
        "TopDown satisfies DP under the normalised Renyi metric D_nor with the budgets 2.63 "
        "(redistricting file) and 15.29 (DHC)."
    ),
    paper_value="2.63 and 15.29",
    unit="smallest budget on D_nor that follows from the published rho",
    tables=["swapping_topdown_budget"],
    note=(
        "The theorem is true and not tight. D_nor has the root of the Renyi divergence, so that "
        "the root of rho is sufficient as a budget, and so is any larger number. That 15.29 is the "
        "rho of zCDP follows from its printed epsilon (entry 8 of the errata). Another slide "
        "prints rho^2 = 15.29, which is a budget of 3.91."
    ),
)
def swap_topdown_budget(budgets):
    topdown = budgets[budgets["system"].str.startswith("TopDown")]
    return Evidence(
        quantity(topdown, "on_d_nor", exact=True),
        at_most(1, "paper"),
        statistic=extreme(topdown, "share_of_rho", "max"),
        statistic_name="times the printed budget (the larger of the two)",
    )


def _falls(guide: pd.DataFrame, method: str) -> Evidence:
    """Count the steps of a method of the guide that do not reduce epsilon."""
    steps = guide[guide["way"] == method]
    judged = steps[steps["falls"].notna()]
    return Evidence(
        extreme(steps, "epsilon", "min", exact=True),
        equals(0, "ours"),
        statistic=count(judged[~judged["falls"].astype(bool)], among=judged),
        statistic_name="is the number of steps that do not reduce epsilon",
    )


@guide_claim(
    where="A perverse guide, 1",
    statement="More invariants reduce epsilon without more noise.",
    unit="epsilon with the most invariants (2020, 5 %)",
)
def swap_perverse_invariants(guide):
    return _falls(guide, "more invariants")


@guide_claim(
    where="A perverse guide, 2",
    statement="A person as the unit, in place of a household, reduces epsilon without more noise.",
    unit="epsilon for each person, in households of two or more persons (1940, 5 %)",
    note=(
        "Epsilon is halved because a changed household is at least two changed persons. "
        "One-person households are left out. With them, epsilon decreases less."
    ),
)
def swap_perverse_unit(guide):
    return _falls(guide, "a finer unit")


@guide_claim(
    where="A perverse guide, 3",
    statement="A positive delta reduces epsilon without more noise.",
    unit="epsilon at delta = 1e-10 (1940, 5 %)",
    figures=["swapping_tightness"],
    note="The value is for an exchange of two households in a stratum of different households.",
)
def swap_perverse_delta(guide):
    return _falls(guide, "a smaller divergence")
