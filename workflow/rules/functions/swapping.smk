"""What the rules of swapping make under which names."""


def swapping_tables(titles):
    """Outputs of a job that makes several tables: NAME_csv, NAME_md, NAME_html."""
    return {
        key: path
        for each, title in titles.items()
        for key, path in table_outputs(
            f"swapping_{each}", title, "Swapping", key=f"{each}_"
        ).items()
    }


def swapping_data(*names):
    """What figures show: NAME_figure."""
    return {f"{name}_figure": f"results/figures/swapping_{name}.csv" for name in names}
