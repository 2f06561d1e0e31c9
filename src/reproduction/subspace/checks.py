"""All propositions that are checked by a number, in one table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from reproduction.subspace.properties import (
    composition_table,
    conditioning_table,
    disclosure_table,
    distributed_table,
    infeasibility_table,
    nestedness_table,
    unbiasedness_table,
)
from reproduction.subspace.wifi import Campus
from reproduction.subspace.workloads import mechanisms_of

SIXTEEN = {"query": "histogram", "size": 16, "held": "total"}
NESTED_MULTIPLIER = 23.632  # the paper's c at epsilon 0.192 and delta 1e-5
COMPOSED = (0.5, 0.7)  # epsilons of two releases
COUNTIES = 102
AGENTS = Campus(3, 4, 5)


def check_table(rng: np.random.Generator, epsilon: float, delta: float, draws: int) -> pd.DataFrame:
    """Check each proposition by numbers that would show it to fail.

    Parameters
    ----------
    rng : numpy.random.Generator
    epsilon, delta : float
        Of the mechanisms whose means are checked; nestedness is shown at the same epsilon.
    draws : int
        Simulated noise vectors a mechanism.

    Returns
    -------
    DataFrame
        where (in the paper), case, measure (what the value is), value, its standard error and
        distance from zero in these, z (where it is a mean of draws), and wanted (what the
        proposition asks of it; blank where it asks for nothing).
    """
    generators = rng.spawn(3)
    laws = mechanisms_of(SIXTEEN, epsilon, delta)
    tables = {
        "infeasible": infeasibility_table(generators[0], draws),
        "nested": nestedness_table(NESTED_MULTIPLIER, epsilon),
        "composition": composition_table(generators[1], 4, COMPOSED, draws),
        "disclosure": disclosure_table(),
        "unbiased": unbiasedness_table(generators[2], laws, draws),
        "conditioning": conditioning_table(COUNTIES),
        "distributed": distributed_table("shared", AGENTS.invariants, 2.0),
    }
    found = pd.DataFrame(_rows(tables), columns=["where", "case", "measure", "value", "wanted"])
    means = tables["unbiased"].rename(columns={"mechanism": "case"}).assign(where="Corollary 4.1")
    found = found.merge(means[["where", "case", "error", "z"]], how="left", on=["where", "case"])
    return found[["where", "case", "measure", "value", "error", "z", "wanted"]]


def _rows(tables: dict[str, pd.DataFrame]) -> Iterator[tuple]:
    for _, row in tables["infeasible"].iterrows():
        yield "Example 2.4", row["mechanism"], "delta at every epsilon", row["delta"], "= 1"
    for _, row in tables["nested"].dropna().iterrows():
        rise = "rise of delta from the larger space"
        yield "Proposition 2.7", f"{row['held']} held", rise, row["rise"], "<= 0"
    for _, row in tables["composition"].iterrows():
        share = "largest joint loss by the sum of epsilons"
        yield "Proposition 2.9", f"{row['releases']:.0f} releases", share, row["share"], "<= 1"
    for _, row in tables["disclosure"].iterrows():
        free = "dimensions left for noise, of 3"
        yield "beside Proposition 2.9", f"{row['held']} held", free, row["free"], ""
    for _, row in tables["unbiased"].iterrows():
        yield "Corollary 4.1", row["mechanism"], "mean farthest from zero", row["mean"], ""
    for _, row in tables["conditioning"].iterrows():
        wanted = "= 0" if row["noise"] == "round Gaussian" else ""
        gap = "largest gap between the covariances"
        yield "Theorem 4.2", row["noise"], gap, row["gap"], wanted
        ratio = "error of conditioning by that of projecting"
        yield "Theorem 4.2", row["noise"], ratio, row["ratio"], "= 1" if wanted else ""
    for _, row in tables["distributed"].iterrows():
        case = f"{row['agents']:.0f} agents in {row['components']:.0f} components"
        for measure, key, wanted in (
            ("largest difference between an agent's noise and the centre's", "difference", "= 0"),
            ("largest residual of what is held", "residual", "= 0"),
            ("error left to an agent who takes the noise off with the seed", "recovered", ""),
        ):
            yield "Section 4", case, measure, row[key], wanted
