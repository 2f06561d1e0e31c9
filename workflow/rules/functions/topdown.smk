"""Names of the TopDown wing's outputs, and the files of all its runs."""


def of_all_systems(kind):
    """Files of one kind: TopDown's families, the systems beside it last."""
    runs = expand(f"results/topdown/{{family}}_{kind}.csv", family=FAMILIES)
    return runs if kind == "nodes" else [*runs, f"results/topdown/others_{kind}.csv"]


# the wing's tables and figures, by name, with what each shows
TOPDOWN_TABLES = {
    "invariants": "With and without invariants",
    "noise": "Variances of the slides, and by other conversions",
    "conversions": "Where the Gaussian is better",
    "tails": "Tails of both laws",
    "dormitories": "Dormitories",
    "naive": "Releases that cannot be",
    "regions": "Regions A and B",
    "witness": "Fractions only",
    "implied": "Group quarters",
    "cuts": "Cutting planes",
    "unimodular": "Unimodular or not",
    "failsafe": "The failsafe",
    "configurations": "What is run, by name",
    "bias": "Errors by true size of the cell",
    "trend": "County totals, system by system",
    "slopes": "Slopes, state by state",
    "margins": "Errors of margins by level",
    "causes": "What makes the bias",
    "rounding": "Rounding and zeros, level by level",
    "fingerprint": "The trace of swapping",
    "sizes": "Errors by size of the county",
}
TOPDOWN_FIGURES = {
    "bias": "Errors by true size of the cell",
    "slopes": "Slopes in all states",
    "counties": "A state's counties",
    "swapping": "The trace of swapping",
    "noise": "Gaussian against Laplace",
}


def topdown_tables(*names, **where):
    outputs = {}
    for each in names:
        what = TOPDOWN_TABLES[each]
        outputs |= table_outputs(f"topdown_{each}", what, "TopDown", key=f"{each}_", **where)
    return outputs


def topdown_figures():
    outputs = {}
    for each, what in TOPDOWN_FIGURES.items():
        caption = f"topdown_{each}_figure"
        key = f"{each}_figure_"
        outputs |= figure_outputs(f"topdown_{each}", what, "TopDown", key=key, caption=caption)
    return outputs
