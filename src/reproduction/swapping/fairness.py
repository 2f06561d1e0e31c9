"""What makes swapping and integer noise comparable: it belongs beside every figure of the two."""

FAIRNESS = (
    "Swapping's epsilon covers every table made from the swapped records, that of noise this table "
    "alone: beyond the break-even number of tables swapping costs less.",
    "Swapping returns records, noise a table.",
    "The percentage error is set by the smallest counties; errors of swapping grow with the "
    "county, those of noise do not.",
    "Three readings of swapping's loss: the published bound; what an observer of uniquely "
    "described households gains; and a lower bound of the loss if this table alone is released, "
    "for counties of one household.",
)
