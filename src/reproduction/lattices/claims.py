"""Claims of the papers on the study `lattices`."""

from reproduction.jobs.claims import (
    Evidence,
    Requirement,
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
    paper="ISDP",
    experiment="Intersecting constraints",
    where="E.2, Fig 5",
    statement="The noise of every record is unbiased.",
    paper_value="0",
    unit="persons (the mean farthest from zero, in units of its error)",
    tables=["intersecting_noise_summary"],
    figures=["intersecting_noise"],
    note=(
        "largest |mean| over records and laws in units of its Monte Carlo error; exact draws "
        "give the same (table intersecting_noise_summary_exact)"
    ),
)
def intersecting_unbiased(table):
    row = extreme_row(table, "z", "max_abs")
    return Evidence(
        quantity(row, "mean", error="mcse"),
        at_most(5.5, "ours"),
        statistic=quantity(row, "z", absolute=True),
        statistic_name="standard errors from zero",
    )


@claim(
    paper="ISDP",
    experiment="Contingency table",
    where="E.3, Fig 7",
    statement="The noise of every cell is unbiased.",
    paper_value="0",
    unit="persons (the mean farthest from zero, in units of its error)",
    tables=["contingency_noise_summary"],
    figures=["contingency_noise"],
    note=(
        "largest |mean| over cells and laws in units of its Monte Carlo error; exact draws give "
        "the same (table contingency_noise_summary_exact)"
    ),
)
def contingency_unbiased(table):
    row = extreme_row(table, "z", "max_abs")
    return Evidence(
        quantity(row, "mean", error="mcse"),
        at_most(5.5, "ours"),
        statistic=quantity(row, "z", absolute=True),
        statistic_name="standard errors from zero",
    )


@claim(
    paper="ISDP",
    experiment="Contingency table",
    where="Tables 1, 3",
    statement="The printed noise tables have zero margins.",
    paper_value="0",
    unit="margins off zero",
    transcription=True,
    tables=["contingency_printed"],
    note="margins off zero in the two printed tables",
)
def contingency_printed_margins(table):
    return Evidence(total(table, "margins_off", exact=True), equals(0, "paper"))


@claim(
    paper="ISDP",
    experiment="Contingency table",
    where="Table 2",
    statement="The row of Gamma adds up to 35.",
    paper_value="35",
    unit="children in the row of Gamma",
    if_differs="error in the paper",
    tables=["contingency_confidential"],
    note=(
        "an erratum of the paper: its cells 3, 10, 10, 2 add up to 25, and only 25 agrees with "
        "its own column totals (50, 35, 30, 20) and grand total 135 = 20 + 55 + 25 + 35"
    ),
)
def contingency_gamma_total(table):
    row = only_row(table.query('county == "Gamma"'))
    return Evidence(quantity(row, "Total", exact=True), equals(35, "paper"))


@claim(
    paper="ISDP",
    experiment="Contingency table",
    where="Table 2",
    statement="The table counts 135 children.",
    paper_value="135",
    unit="children",
    transcription=True,
    tables=["contingency_confidential"],
    note="sum of the printed cells",
)
def contingency_grand_total(table):
    row = only_row(table.query('county == "Total"'))
    return Evidence(quantity(row, "Total", exact=True), equals(135, "paper"))


@claim(
    paper="ISDP",
    experiment="All lattices",
    where="Section 5, Proposition 8",
    statement="The noise is integer, and margins and intersecting totals stay exactly as they are.",
    paper_value="0",
    unit="draws that break a total",
    tables=["draws_verified"],
    note="draws whose invariants fail when checked again in 64-bit integers, all laws",
)
def lattices_exact_margins(table):
    return Evidence(total(table.query('wing == "lattices"'), "violations"), equals(0, "paper"))


@claim(
    paper="ISDP",
    experiment="All lattices",
    where="Section 5, E.2, E.3, Figs 1, 4, 6",
    statement="Coupled chains meet in finite time under both norms, so the bound falls to zero.",
    paper_value="0",
    unit="walks whose chains were cut off or met standing",
    tables=["lattice_convergence"],
    figures=["intersecting_tv_bound", "contingency_tv_bound", "small_tv_bound"],
    note=(
        "variants, over experiments and laws, in which the cap cut off some coupled run before "
        "it met, or some pair met only because neither chain had moved"
    ),
)
def chains_converge(table):
    smallest = extreme_row(table, "cap", "min")
    return Evidence(
        count(table.query("censored > 0 or standing > 0"), among=table),
        equals(0, "paper"),
        decides=Requirement(
            "iterations before a run is cut off", quantity(smallest, "cap"), 1000000
        ),
    )


@claim(
    paper="ISDP",
    experiment="All lattices",
    where="Section 5, E.3",
    statement="The bounds are stable at various choices of the lag.",
    paper_value="stable",
    unit="largest by smallest time to the bound, over the lags",
    tables=["lattice_convergence", "meeting_times"],
    figures=["intersecting_tv_bound", "contingency_tv_bound"],
    note=(
        "largest by smallest time until the bound is 0.1 over the lags shown, worst case of the "
        "paper's chain (variant paper) in its two experiments under its two norms. Our text copy "
        "lacks its lags, and these are ours"
    ),
)
def bounds_stable_across_lags(convergence, times):
    row = extreme_row(
        convergence.query(
            'experiment in ["intersecting", "contingency"] and variant == "paper" '
            'and law in ["l1", "l2"]'
        ),
        "spread",
        "max",
    )
    smallest = extreme_row(times, "chains", "min")
    return Evidence(
        quantity(row, "spread"),
        at_most(2, "ours"),
        decides=Requirement("coupled chains", quantity(smallest, "chains"), 200),
    )
