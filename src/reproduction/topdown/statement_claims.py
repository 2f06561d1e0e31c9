"""Claims on the statements of the slides (TDA) that are checked by exact computation.

TDA is *The TopDown algorithm and invariants* (slides).
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
    extreme,
    only_row,
    quantity,
    select_statements,
    total,
    within_bound,
    without_failures,
)

statement_claim = partial(
    claim, paper="TDA", experiment="Statements", tables=["topdown_statements"]
)
FROM_INTEGER = "distance of a solution from the nearest integer"


@statement_claim(
    where="Goal",
    statement="About 309 million people are counted.",
    paper_value="about 309 million",
    unit="persons in the 50 states and DC, 2010",
    transcription=True,
)
def tda_people(table):
    row = only_row(select_statements(table, "persons"))
    return Evidence(quantity(row, "value", exact=True), between(308.5e6, 309.5e6, "paper"))


@statement_claim(
    where="TopDown Framework (without invariants)",
    statement="The number of optimization problems increases down the hierarchy.",
    paper_value="increases",
    unit="number of problems divided by the number at the next lower level (maximum)",
    note=(
        "The levels are nation, states and counties. Nation and states have one problem each, and "
        "the counties have one for each of 52 states and territories."
    ),
)
def tda_problems_grow(table):
    return within_bound(table, "number of problems")


@statement_claim(
    where="TopDown Framework (without invariants)",
    statement="The size of the optimization problems decreases down the hierarchy.",
    paper_value="decreases",
    unit="mean number of variables divided by the mean at the next higher level (maximum)",
    if_differs="depends on the reading",
    note=(
        "A problem has one variable for each child and each cell that is not zero at its parent, "
        "in the published counts. The states' problem has 52 histograms and the nation's has one. "
        "The counties' problems have 1.02 times as many variables as the states' problem, because "
        "a state has 62 counties on average. The number of cells of a histogram does decrease. The "
        "levels below the counties, with fewer children, are not measured."
    ),
)
def tda_problems_shrink(table):
    return within_bound(table, "size of problems")


@statement_claim(
    where="National and State Level Histograms",
    statement="An integer table within 1 of the fractional table has the required sums.",
    paper_value="exists",
    unit=FAILURES,
    note=(
        f"{NO_PROOF.format(5)} All tables with fractional parts of denominators 2 to 5 are "
        "enumerated, for up to four children of one cell and up to three cells of two children."
    ),
)
def tda_rounding_exists(table):
    return without_failures(table, "rounding exists")


@statement_claim(
    where="National Histogram Linear solve",
    statement=(
        "The simplex method, and an interior point method with crossover, give integer solutions "
        "of the programme that rounds."
    ),
    paper_value="integer",
    unit=f"{FROM_INTEGER} (maximum)",
    note=(
        "The objective is linear between the two nearest integers, as in a programme over "
        "integers. Each method solves 20 programmes with random estimates. The criterion allows "
        "for floating point. The documented interface of our solver cannot omit the crossover."
    ),
)
def tda_rounding_algorithms(table):
    rows = select_statements(table, "rounding is integer")
    return Evidence(extreme(rows, "value", "max", draws="cases"), at_most(1e-9, "ours"))


@statement_claim(
    where="National Histogram Linear solve; as printed",
    statement=(
        "The programme that rounds has integer solutions if every value within 1 of the estimate "
        "is allowed, as printed."
    ),
    paper_value="integer",
    unit=f"{FROM_INTEGER} (largest of a table, minimum over 20 tables)",
    if_differs="depends on the reading",
    note=(
        "The printed programme minimises the l1 distance from the estimate. Without a restriction "
        "to integers, the estimate itself has the distance 0 and is the only solution. Total "
        "unimodularity gives integer vertices for integer bounds only. The slides state that their "
        "code solves a programme over integers. The claim tda-rounding-algorithms concerns the "
        "linear programme that is equivalent to it."
    ),
)
def tda_rounding_as_printed(table):
    rows = select_statements(table, "rounding as printed")
    return Evidence(extreme(rows, "value", "min", draws="cases"), at_most(1e-9, "ours"))


@statement_claim(
    where="TopDown with Invariants",
    statement="Linear constraints have integer solutions if their matrix is totally unimodular.",
    paper_value="if totally unimodular",
    unit="square systems with a fractional solution",
    note=(
        f"{NO_PROOF.format(4)} All square systems of four matrices are solved in rational "
        "arithmetic. The sums of all pairs of three cells, which are not unimodular, have "
        "fractional solutions."
    ),
)
def tda_unimodular_suffices(table):
    return without_failures(table, "vertices, unimodular")


@statement_claim(
    where="Example (group quarters)",
    statement="In general there is one implied constraint for each combination of types.",
    paper_value="about 2^28",
    unit="combinations divided by irredundant constraints (maximum over the numbers of types)",
    note=(
        f"{NO_PROOF.format(5)} Every combination of types occurs in one region. For 2 to 6 types, "
        "each of the 2^k - 2 combinations other than all types has an irredundant constraint. For "
        "28 types this would be 268,435,454."
    ),
)
def tda_gq_combinations(table):
    return within_bound(table, "bounds by combination")


@statement_claim(
    where="Implied Constraints",
    statement="Fourier-Motzkin elimination has a double exponential complexity.",
    paper_value="double exponential",
    unit="m^2 / 8 divided by the number of inequalities after m (maximum over the steps)",
    note=(
        f"{NO_PROOF.format(6)} If the ratio is at most 1 for k steps, m inequalities become at "
        "least 8 (m / 8)^(2^k). The inequalities are random, and redundant ones are kept."
    ),
)
def tda_elimination_cost(table):
    return within_bound(table, "growth of the inequalities")


@statement_claim(
    where="Implied Constraints, regions A and B",
    statement="Two margins of each region imply more on their parent than its own margins.",
    unit="tables with the parent's margins that are no sum of both regions, of 21",
    note=(
        "The slide prints the margins of two regions and states that the decision is NP-complete. "
        "That their sums have 11 of the 21 possible tables is our computation."
    ),
)
def tda_two_margins(table):
    rows = select_statements(table, "parent of two regions")
    return Evidence(total(rows, "failures", exact=True), at_least(1, "ours"))


@statement_claim(
    where="Invariants and Utility",
    statement=(
        "Datasets that satisfy the invariants can be very different from those that need not, with "
        "the same measurements."
    ),
    paper_value="very different",
    unit="share of the students of the dormitories who must change type (maximum)",
    note=(
        "The criterion of a quarter is ours. The measurements are the least favourable ones, with "
        "(1, 2, 197) students. The slide reports experiments that it does not describe. In our "
        "runs the states' populations are the only invariants, and few cells differ (table "
        "topdown_invariants)."
    ),
)
def tda_feasible_differs(table):
    row = only_row(select_statements(table, "students who change"))
    return Evidence(quantity(row, "ratio", exact=True), at_least(0.25, "ours"))


@statement_claim(
    where="zCDP/RDP vs. pure DP, failure probability",
    statement=(
        "An algorithm that releases a random one of n records with probability q satisfies "
        "approximate differential privacy with delta = q / n."
    ),
    paper_value="delta = 1e-6 / (4e8)",
    unit=FAILURES,
    note=(
        "Delta is computed in rational arithmetic at epsilon = 0, for 1 to 12 records of two "
        "values and q = 1e-6. The claim tda-failure-probability has the printed numbers."
    ),
)
def tda_random_record(table):
    return without_failures(table, "random record")


@statement_claim(
    where="zCDP/RDP vs. pure DP, last slides",
    statement="A mechanism with pure differential privacy has parameters of zCDP by a reduction.",
    paper_value="reductions",
    unit=LARGEST_RATIO,
    note=(
        f"{NO_PROOF.format(12)} The bound is rho = epsilon^2 / 2, which the slide does not print. "
        "The smallest rho of randomised response and of the geometric mechanism is nearest to it "
        "at epsilon = 0.01."
    ),
)
def tda_pure_as_zcdp(table):
    return within_bound(table, "zCDP of pure")
