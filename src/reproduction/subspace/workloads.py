"""Sensitivities and errors of mechanisms on several workloads, compared with lower bounds."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace import (
    CorrelatedGaussian,
    ExtendedGaussian,
    ExtendedLaplace,
    KNorm,
    ProjectedGaussian,
    ProjectedLaplace,
    Query,
    base_decomposition,
    basis_sensitivity,
    difference_basis,
    kronecker_basis,
    min_trace_shape,
    null_basis,
    null_sensitivity,
    null_space,
    quotient_sensitivity,
    sensitivity,
    spherical_shape,
)
from isdp.subspace.accuracy import min_variance_approximate, min_variance_pure
from isdp.subspace.mechanisms.base import NullSpaceMechanism
from isdp.subspace.mechanisms.correlated_shapes import WEIGHTINGS
from isdp.subspace.privacy.sensitivities import rank_of_differences
from reproduction.subspace.theory.joint_invariants import consistency, together


def build_workload(entry: Mapping) -> tuple[Query, Invariants]:
    """Build a query and its invariants from a valid entry of the block `subspace.workloads`."""
    kind, size, held = entry["query"], entry["size"], entry["held"]
    if kind == "histogram":
        cells = int(np.prod(size) if held == "margins" else np.sum(size))
        if held == "total":
            invariants = Invariants.total(cells)
        elif held == "margins":
            invariants = Invariants.margins(size)
        else:
            invariants = Invariants.partition(np.repeat(np.arange(len(size)), size).tolist())
        return Query.histogram(cells), invariants
    if kind == "margins":
        query = Query.margins(size, entry["kept"])
        answers = range(int(np.prod([size[axis] for axis in entry["kept"][0]])))
    else:
        query = getattr(Query, kind)(size)
        answers = [0 if kind == "hierarchy" else query.types - 1]
    total = Invariants.subsets([answers], query.answers, ["total"])
    return query, total if held == "total" else together(total, consistency(query))


def build_bases(entry: Mapping, query: Query, invariants: Invariants) -> dict:
    """Build all orthonormal bases that exist for a workload, by name.

    The basis "differences" spans the differences of neighbouring answers. The other bases span the
    null space of the invariants.
    """
    bases = {}
    if entry["held"] == "margins":
        bases = {kind: kronecker_basis(entry["size"], kind=kind) for kind in ("haar", "helmert")}
    else:
        for kind in ("haar", "helmert", "hadamard", "cosine"):
            with suppress(InputError):
                bases[kind] = null_basis(invariants, kind)
    return bases | {"differences": difference_basis(query, invariants)}


def tabulate_workloads(workloads: Mapping[str, Mapping]) -> pd.DataFrame:
    """Compute the dimensions and sensitivities of each workload."""
    rows = []
    for name, entry in workloads.items():
        query, held = build_workload(entry)
        null = null_space(held)
        row = {
            "workload": name,
            "answers": query.answers,
            "constraints": null.rank,
            "dimension": null.dimension,
            "rank": rank_of_differences(query, held),
            "l1": sensitivity(query, 1),
            "l2_squared": sensitivity(query, 2) ** 2,
            "null_l2_squared": null_sensitivity(query, held) ** 2,
            "quotient": quotient_sensitivity(query, held),
        }
        for kind, basis in build_bases(entry, query, held).items():
            row[f"l1_{kind}"] = basis_sensitivity(query, basis)
        rows.append(row)
    return pd.DataFrame(rows)


def build_mechanisms(entry: Mapping, epsilon: float, delta: float) -> dict[str, NullSpaceMechanism]:
    """Build all mechanisms that a workload allows, by name, at the same epsilon and delta."""
    query, held = build_workload(entry)
    shapes = {
        "best Gaussian": min_trace_shape(query, held),
        "round Gaussian": spherical_shape(query, held),
    }
    for weights in WEIGHTINGS:
        name = f"base decomposition, {weights}"
        shapes[name] = base_decomposition(query, held, weights=weights)
    mechanisms = {
        "projected Gaussian": ProjectedGaussian(query, held, epsilon, delta),
        "extended Gaussian": ExtendedGaussian(query, held, epsilon, delta),
        **{name: CorrelatedGaussian(shape, epsilon, delta) for name, shape in shapes.items()},
        "projected Laplace": ProjectedLaplace(query, held, epsilon),
    }
    for kind, basis in build_bases(entry, query, held).items():
        mechanisms[f"extended Laplace, {kind}"] = ExtendedLaplace(query, held, epsilon, basis)
    with suppress(InputError):  # K-norm noise has no exact sampler in many dimensions
        mechanisms["K-norm"] = KNorm(query, held, epsilon)
    return mechanisms


def tabulate_errors(
    rng: np.random.Generator, workloads: Mapping, epsilon: float, delta: float, draws: int
) -> pd.DataFrame:
    """Compute the exact error of every mechanism on every workload, and simulate it.

    Epsilon and delta are for one replaced record. `draws` is the number of simulated noise vectors
    of each mechanism.
    """
    rows = []
    for name, entry in workloads.items():
        mechanisms = build_mechanisms(entry, epsilon, delta)
        best = mechanisms["best Gaussian"].shape
        for mechanism_name, mechanism in mechanisms.items():
            flavour = mechanism.guarantee.flavour
            if flavour == "approximate":
                scale = mechanism.multiplier**2
                min_variance = min_variance_approximate(epsilon, delta)
            else:
                scale, min_variance = epsilon**-2, min_variance_pure(epsilon)
            squares = np.square(mechanism.sample(rng, draws)).sum(axis=1)
            row = {
                "workload": name,
                "mechanism": mechanism_name,
                "flavour": flavour,
                "error": mechanism.error,
                "unit": mechanism.error / scale,
                "least": best.trace,
                "bound": min_variance * best.lower,
                "simulated": squares.mean(),
                "simulated_se": squares.std(ddof=1) / np.sqrt(draws),
            }
            rows.append(row)
    table = pd.DataFrame(rows)
    table.insert(7, "ratio", table["error"] / table["bound"])
    table["z"] = (table["simulated"] - table["error"]) / table["simulated_se"]
    return table


def tabulate_near_optimal(
    errors: pd.DataFrame, workloads: pd.DataFrame, delta: float
) -> pd.DataFrame:
    """Compare the error of the noise of Theorem 3.11 with a lower bound for all additive noise.

    Null spaces with fewer than four dimensions are omitted. `errors` and `workloads` are from
    `tabulate_errors` and `tabulate_workloads`.
    """
    paper = errors[errors["mechanism"] == "base decomposition, paper"].set_index("workload")
    paper = paper[["unit", "least", "ratio"]].rename(columns={"ratio": "to_bound"})
    table = workloads.set_index("workload")[["dimension"]].join(paper)
    table = table[table["dimension"] >= 4]
    table.insert(3, "ratio", table["unit"] / table["least"])
    table["order"] = np.log2(table["dimension"]) ** 2 * -np.log(delta)
    table["part"] = table["to_bound"] / table["order"]
    return table.reset_index()


def tabulate_formulas(errors: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Compare the errors of the four general mechanisms with Corollaries 3.5 to 3.9.

    The formula for Gaussian noise with c = 1 is the dimension times the squared l2 sensitivity. For
    Laplace noise at epsilon 1 it is twice the dimension times the squared l1 sensitivity. Projected
    noise uses the sensitivity of the answers, and extended noise the sensitivity in the basis.
    """
    rows = []
    for _, row in errors.merge(workloads, on="workload", validate="many_to_one").iterrows():
        kind, _, basis = row["mechanism"].partition(", ")
        sensitivities = {
            "projected Gaussian": "l2_squared",
            "extended Gaussian": "null_l2_squared",
            "projected Laplace": "l1",
            "extended Laplace": f"l1_{basis}",
        }
        if kind in sensitivities:
            size = row[sensitivities[kind]]
            each = size if kind.endswith("Gaussian") else 2 * size**2
            formula = row["rank" if basis == "differences" else "dimension"] * each
            off = abs(row["unit"] / formula - 1)
            rows.append((row["workload"], row["mechanism"], formula, row["unit"], off, row["z"]))
    return pd.DataFrame(rows, columns=["workload", "mechanism", "formula", "unit", "off", "z"])


def tabulate_frameworks(errors: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Divide the error of extended noise by the error of projected noise, for each workload.

    The column `differences_full` is for the basis of the differences, completed to a basis of the
    null space. It has the same sensitivity.
    """
    wide = errors.pivot(index="workload", columns="mechanism", values="error")
    known = workloads.set_index("workload")
    own = "extended Laplace, differences"
    named = [name for name in wide if name.startswith("extended Laplace") and name != own]
    laplace = wide.div(wide["projected Laplace"], axis=0)
    table = pd.DataFrame(
        {
            "gaussian": wide["extended Gaussian"] / wide["projected Gaussian"],
            "named_min": laplace[named].min(axis=1),
            "named_max": laplace[named].max(axis=1),
            "differences": laplace[own],
            "differences_full": laplace[own] * known["dimension"] / known["rank"],
        }
    )
    return table.loc[errors["workload"].unique()].reset_index(names="workload")
