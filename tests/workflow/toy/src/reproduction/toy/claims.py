from reproduction.jobs.claims import Evidence, at_most, claim, extreme_row, quantity


@claim(
    paper="ISDP",
    experiment="Signs",
    where="nowhere",
    statement="Signs at random are balanced.",
    paper_value="0",
    unit="persons",
    tables=["toy"],
    figures=["toy"],
)
def toy_mean(table):
    row = extreme_row(table, "mean", "max_abs")
    return Evidence(quantity(row, "mean", absolute=True), at_most(0.5, "ours"))
