"""Compute errors, guarantees and checks of every subspace mechanism."""

from functools import partial

import pandas as pd

from reproduction.running.jobs import job_log
from isdp.seeds import stream
from reproduction.running.tables import write_table
from reproduction.subspace import guarantees, workloads
from reproduction.subspace.checks import check_table
from reproduction.subspace.equal_privacy import margins_table, order_table, total_table

DISTANCES = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)  # in scales of the noise
FAILING = (0.01, 0.02, 0.05, 0.1, 0.192, 0.5, 0.9, 1, 2, 4, 8)


def below_each_other(parts):
    """Tables of several settings as one, with the setting's name in the first column."""
    return pd.concat(parts, names=["setting"]).reset_index("setting").reset_index(drop=True)


with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    rng = partial(stream, params.seed, "subspace")
    both = {"epsilon": params.epsilon, "delta": params.delta}
    entries, losses, equal = params.workloads, params.losses, params.equal_privacy

    sizes = workloads.workload_table(entries)
    errors = workloads.error_table(rng("errors"), entries, **both, draws=params.draws)
    attained = [
        guarantees.attained_loss(cells, params.epsilon, DISTANCES) for cells in losses["cells"]
    ]
    shape = equal["table"]
    settings = {
        f"{equal['counties']} counts under their total": total_table(equal["counties"], **both),
        f"{shape[0]} x {shape[1]} table under both margins": margins_table(
            rng("equal privacy"),
            tuple(shape),
            equal["table_epsilon"],
            params.delta,
            equal["draws"],
            equal["walk_steps"],
        ),
    }
    tables = {
        "workloads": (sizes, "Workloads: dimensions and sensitivities"),
        "errors": (errors, "Error of every mechanism on every workload"),
        "formulas": (workloads.formula_table(errors, sizes), "Errors beside the formulas"),
        "frameworks": (workloads.framework_table(errors), "Extending against projecting"),
        "near_optimal": (
            workloads.near_optimal_table(errors, sizes),
            "The noise of Theorem 3.11 beside the best Gaussian noise",
        ),
        "constant": (
            guarantees.constant_table(**params.constant),
            "The constant of Lemma 3.4 beside the exact condition",
        ),
        "failing": (
            guarantees.failing_table(FAILING),
            "The delta below which the constant of Lemma 3.4 fails",
        ),
        "losses": (
            guarantees.pure_loss_table(entries, params.epsilon),
            "Exact pure loss of Laplace noise",
        ),
        "attained": (
            pd.concat(attained, ignore_index=True),
            "Loss of projected Laplace noise by the distance from the truth",
        ),
        "profiles": (
            guarantees.profile_table(
                rng("profiles"), losses["cells"], losses["epsilons"], losses["draws"]
            ),
            "Privacy profiles under a total, epsilon = 1",
        ),
        "equal_privacy": (
            below_each_other(settings),
            "Every mechanism at equal privacy, in both currencies",
        ),
        "orders": (
            below_each_other({name: order_table(table) for name, table in settings.items()}),
            "Order of the mechanisms in both currencies",
        ),
        "checks": (
            check_table(rng("checks"), **both, draws=params.draws),
            "Propositions checked by a number",
        ),
    }
    for key, (table, title) in tables.items():
        write_table(table, output[f"{key}_csv"], title)
