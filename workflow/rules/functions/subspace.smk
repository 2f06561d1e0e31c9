"""Outputs of subspace privacy: tables and figures by a short key."""


def subspace_table(key, what, part):
    return table_outputs(
        f"subspace_{key}", what, "Subspace privacy", key=f"{key}_", subcategory=part
    )


def subspace_figure(key, what, part):
    return figure_outputs(
        f"subspace_{key}",
        what,
        "Subspace privacy",
        key=f"{key}_figure_",
        caption=f"subspace_{key}_figure",
        subcategory=part,
    )
