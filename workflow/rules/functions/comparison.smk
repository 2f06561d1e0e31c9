"""Names of the comparison's outputs."""

# the wing's tables and figures, by name, with what each shows
COMPARISON_TABLES = {
    "guarantees": "What each system guarantees",
    "errors": "Errors by query and true size",
    "shares": "Errors of shares",
    "impossible": "Counts that cannot be, and what is exact",
    "cost": "What one release costs",
}
COMPARISON_FIGURES = {
    "errors": "Error against each system's own budget",
    "bias": "Bias by true size of the cell",
    "shares": "Shares of a county's people",
}


def comparison_tables():
    outputs = {}
    for each, what in COMPARISON_TABLES.items():
        left_out = each in ("errors", "shares")  # a row a budget, query and size
        outputs |= table_outputs(
            f"comparison_{each}", what, "Comparison", key=f"{each}_", left_out=left_out
        )
    return outputs


def comparison_figures():
    outputs = {}
    for each, what in COMPARISON_FIGURES.items():
        outputs |= figure_outputs(
            f"comparison_{each}",
            what,
            "Comparison",
            key=f"{each}_figure_",
            caption=f"comparison_{each}_figure",
        )
        outputs[f"{each}_data"] = f"results/figures/comparison_{each}.csv"
    return outputs
