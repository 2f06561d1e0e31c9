"""Claims of the papers on the study `swapping`."""

import math

from reproduction.jobs.claims import (
    Evidence,
    at_least,
    at_most,
    claim,
    count,
    equals,
    extreme_row,
    only_row,
    quantity,
    total,
)


@claim(
    paper="SWAP",
    experiment="Swapping",
    where="Numerical demonstration; permutation swapping",
    statement="Swapping keeps what is held, and the totals of the swap key by what is swapped.",
    paper_value="0",
    unit="totals not kept",
    tables=["swapping_mape"],
    figures=["swapping_mape"],
    note="over all simulated swaps of Massachusetts, counted again in whole numbers",
)
def swap_invariants(table):
    return Evidence(total(table, "violations"), equals(0, "paper"))


@claim(
    paper="SWAP",
    experiment="Budget",
    where="Swapping satisfies DP, subject to its invariants",
    statement="Between datasets with equal invariants the loss is at most the published epsilon.",
    unit="nats, the smallest room between bound and exact worst case",
    tables=["swapping_exact_loss"],
    figures=["swapping_tightness", "swapping_budget"],
    note=(
        "worst case over all datasets and outputs in closed form; the bar leaves room for "
        "rounding. The bound is nearly attained; within given county totals it holds with more "
        "room (table swapping_universe_loss)"
    ),
)
def swap_budget_holds(table):
    row = extreme_row(table, "gap", "min")
    return Evidence(quantity(row, "gap", exact=True), at_least(-1e-12, "paper"))


@claim(
    paper="SWAP",
    experiment="Budget",
    where="Figure of swap rate and epsilon, note 1",
    statement="For each largest stratum there is a smallest attainable epsilon, above zero.",
    paper_value="> 0",
    unit="nats (smallest over the strata tried)",
    tables=["swapping_remarks"],
    figures=["swapping_budget"],
    note="true of the bound; the exact loss of a stratum of two is 0 at a rate of 50 % (errata)",
)
def swap_smallest_epsilon(table):
    row = extreme_row(table, "smallest_bound", "min")
    return Evidence(quantity(row, "smallest_bound", exact=True), at_least(1e-06, "ours"))


@claim(
    paper="SWAP",
    experiment="Budget",
    where="Figure of swap rate and epsilon, note 2",
    statement="Every epsilon above it is satisfied by two swap rates.",
    unit="largest error of epsilon at both rates (nats)",
    tables=["swapping_remarks"],
    figures=["swapping_budget"],
)
def swap_two_rates(table):
    row = extreme_row(table, "two_rates_off", "max")
    return Evidence(quantity(row, "two_rates_off", exact=True), at_most(1e-09, "ours"))


@claim(
    paper="SWAP",
    experiment="Budget",
    where="Figure of swap rate and epsilon, note 3",
    statement="At the same swap rate, the larger the largest stratum the larger epsilon.",
    unit="sizes at which epsilon does not grow",
    tables=["swapping_remarks"],
    figures=["swapping_budget"],
)
def swap_larger_stratum(table):
    return Evidence(count(table.query("not grows"), among=table, exact=True), equals(0, "paper"))


@claim(
    paper="SWAP",
    experiment="Budget",
    where="What if the 2020 Census used swapping?",
    statement="Twelve budgets for six ways to swap, at 5 % and at 50 %.",
    paper_value="12",
    unit="printed budgets that the formula gives to the printed digit",
    tables=["swapping_budgets"],
    figures=["swapping_budget"],
    note=(
        "the lowest and the highest of them, 9.37 and 19.38, stand on another slide as the range "
        "for 2020"
    ),
)
def swap_2020_table(table):
    return Evidence(
        count(table.query("census == 2020 and agree"), among=table, exact=True), equals(12, "paper")
    )


@claim(
    paper="SWAP",
    experiment="Budget",
    where="Numerical demonstration, swap rate and epsilon",
    statement="Four budgets for Massachusetts in 1940, from 1 % to 50 %.",
    paper_value="4",
    unit="printed budgets that the formula gives to the printed digit",
    tables=["swapping_budgets"],
    figures=["swapping_budget"],
)
def swap_1940_budgets(table):
    return Evidence(
        count(table.query("census == 1940 and agree"), among=table, exact=True), equals(4, "paper")
    )


@claim(
    paper="SWAP",
    experiment="Massachusetts in 1940",
    where="Numerical demonstration, two tables",
    statement="The swap keeps the owned dwellings of the state.",
    paper_value="435,805",
    unit="owned dwellings after the swap",
    tables=["swapping_unmixed"],
)
def swap_1940_owned(table):
    return Evidence(
        total(table.query('tenure == "owned"'), "after", exact=True), equals(435805, "paper")
    )


@claim(
    paper="SWAP",
    experiment="Massachusetts in 1940",
    where="Numerical demonstration, two tables",
    statement="The printed table is one swap at 50 % within household sizes.",
    unit="chi-square on 13 degrees of freedom, for each way to mix households",
    tables=["swapping_fit"],
    figures=["swapping_massachusetts"],
    note=(
        "the real households may not be passed on, so the sizes of households in each county are "
        "assumed, in each of the ways that the table names (column scenario). A way that was "
        "fitted to the printed table is not judged"
    ),
)
def swap_1940_law(table):
    rows = table.query("not fitted")
    judged = extreme_row(table.query("not fitted"), "p", "min")
    return Evidence(
        quantity(rows, "chi_square"),
        at_least(0.01, "ours"),
        statistic=quantity(judged, "p"),
        statistic_name=(
            "probability of as large a chi-square (smallest over the ways to mix households)"
        ),
    )


@claim(
    paper="SWAP",
    experiment="Massachusetts in 1940",
    where="Numerical demonstration, two tables",
    statement="Its swap rate is 50 %.",
    paper_value="0.5",
    unit="swap rate of highest likelihood, for each way to mix households",
    tables=["swapping_fit"],
    figures=["swapping_rate"],
    note=(
        "the ways to mix households are those of the claim swap-1940-law, and the one that was "
        "fitted to the printed table is not judged"
    ),
)
def swap_1940_rate(table):
    rows = table.query("not fitted")
    judged = extreme_row(table.query("not fitted"), "rate_z", "max_abs")
    return Evidence(
        quantity(rows, "rate", error="error"),
        at_most(3, "ours"),
        statistic=quantity(judged, "rate_z", absolute=True),
        statistic_name="standard errors from 50 % (the farthest of the ways to mix households)",
    )


@claim(
    paper="SWAP",
    experiment="Flavours",
    where="Does data swapping satisfy differential privacy?",
    statement="Between datasets of different invariants the multiplicative distance is infinite.",
    paper_value="infinite",
    unit="multiplicative distance (smallest of three pairs)",
    tables=["swapping_necessity"],
    note="from the exact laws of four swapped households, and of integer noise",
)
def swap_needs_equal_invariants(table):
    pairs = ["another county total", "another tenure total", "integer noise, another row total"]
    row = extreme_row(table[table["pair"].isin(pairs)], "multiplicative", "min")
    return Evidence(quantity(row, "multiplicative", exact=True), equals(math.inf, "paper"))


@claim(
    paper="SWAP",
    experiment="Flavours",
    where="Does the 2020 US Census satisfy differential privacy?",
    statement="To compare only datasets that agree on the invariants is enough for their release.",
    paper_value="0",
    unit="nats, the loss of releasing the totals alone",
    tables=["swapping_necessity"],
)
def swap_invariants_alone(table):
    row = only_row(table.query('pair == "equal invariants, and only the totals are released"'))
    return Evidence(quantity(row, "multiplicative", exact=True), equals(0, "paper"))


@claim(
    paper="SWAP",
    experiment="Flavours",
    where="Examples from the US Decennial Censuses",
    statement="For TopDown rho = 15.29 is epsilon = 52.83 at delta = 1e-10.",
    paper_value="52.83",
    unit="epsilon of 15.29 (of all numbers that round to it)",
    tables=["swapping_topdown_budget"],
    note=(
        "by the formula rho + 2 sqrt(rho ln(1/delta)). Both numbers are printed to two decimals, "
        "and the bar is half a unit of the last one: some rho that rounds to 15.29 has an "
        "epsilon that rounds to 52.83"
    ),
)
def swap_topdown_epsilon(table):
    row = only_row(table.query('system == "TopDown, PL 94-171 and DHC"'))
    return Evidence(
        quantity(row, "slides", limits=("slides_low", "slides_high")),
        at_most(0.005, "paper"),
        statistic=quantity(row, "off_printed"),
        statistic_name="from the printed epsilon to the nearest of these",
    )


@claim(
    paper="SWAP",
    experiment="Flavours",
    where="Theorem: TDA satisfies DP, subject to its invariants",
    statement=(
        "TopDown satisfies DP under the normalised Renyi metric D_nor with the budgets 2.63 "
        "(redistricting file) and 15.29 (DHC)."
    ),
    paper_value="2.63 and 15.29",
    unit="smallest budget on D_nor that follows from the published rho",
    tables=["swapping_topdown_budget"],
    note=(
        "the theorem is true as printed and not tight. The slides define D_nor with the root of "
        "the Renyi divergence, so that the root of rho is enough as a budget, and a mechanism "
        "with a smaller budget keeps any larger one. That 15.29 is the rho of zCDP is taken from "
        "the table of examples, which writes rho squared = 15.29 (see the errata on the "
        "notation)"
    ),
)
def swap_topdown_budget(table):
    rows = table.query('system.str.startswith("TopDown")')
    judged = extreme_row(table.query('system.str.startswith("TopDown")'), "share_of_rho", "max")
    return Evidence(
        quantity(rows, "on_d_nor", exact=True),
        at_most(1, "paper"),
        statistic=quantity(judged, "share_of_rho"),
        statistic_name="times the printed budget (the larger of the two)",
    )


@claim(
    paper="SWAP",
    experiment="Perverse guide",
    where="A perverse guide, 1",
    statement="Epsilon falls where invariants are added, without more noise.",
    unit="epsilon with the most invariants (2020, 5 %)",
    tables=["swapping_perverse_guide"],
)
def swap_perverse_invariants(table):
    row = extreme_row(table.query('way == "more invariants"'), "epsilon", "min")
    examined = table.query('way == "more invariants" and falls.notna()')
    return Evidence(
        quantity(row, "epsilon", exact=True),
        equals(0, "ours"),
        statistic=count(examined.query("falls == False"), among=examined),
        statistic_name="steps at which it does not fall",
    )


@claim(
    paper="SWAP",
    experiment="Perverse guide",
    where="A perverse guide, 2",
    statement="Epsilon falls where the unit is a person in place of a household.",
    unit="epsilon for each person (1940, 5 %)",
    tables=["swapping_perverse_guide"],
    note="in households of two or more, where a household is two persons or more",
)
def swap_perverse_unit(table):
    row = extreme_row(table.query('way == "a finer unit"'), "epsilon", "min")
    examined = table.query('way == "a finer unit" and falls.notna()')
    return Evidence(
        quantity(row, "epsilon", exact=True),
        equals(0, "ours"),
        statistic=count(examined.query("falls == False"), among=examined),
        statistic_name="steps at which it does not fall",
    )


@claim(
    paper="SWAP",
    experiment="Perverse guide",
    where="A perverse guide, 3",
    statement="Epsilon falls where a delta is allowed.",
    unit="epsilon at delta = 1e-10 (1940, 5 %)",
    tables=["swapping_perverse_guide"],
    figures=["swapping_tightness"],
    note="for an exchange of two households, all households different",
)
def swap_perverse_delta(table):
    row = extreme_row(table.query('way == "a smaller divergence"'), "epsilon", "min")
    examined = table.query('way == "a smaller divergence" and falls.notna()')
    return Evidence(
        quantity(row, "epsilon", exact=True),
        equals(0, "ours"),
        statistic=count(examined.query("falls == False"), among=examined),
        statistic_name="steps at which it does not fall",
    )
