"""Outputs of subspace privacy, by their names."""


def subspace_tables(part, titles):
    outputs = {}
    for each, what in titles.items():
        place = {"key": f"{each}_", "subcategory": part}
        outputs |= table_outputs(f"subspace_{each}", what, "Subspace privacy", **place)
    return outputs


def subspace_figures():
    outputs = {}
    for each, what in SUBSPACE_FIGURES.items():
        place = {"key": f"{each}_figure_", "caption": f"subspace_{each}_figure"}
        place["subcategory"] = "Figures"
        outputs |= figure_outputs(f"subspace_{each}", what, "Subspace privacy", **place)
    return outputs
