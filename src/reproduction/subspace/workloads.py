"""Mechanisms on several workloads: sensitivities, errors, and comparison with lower bounds."""

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
from reproduction.subspace.settings import INVARIANTS_BY_QUERY
from reproduction.subspace.theory.joint_invariants import consistency, together


def build_workload(entry: Mapping) -> tuple[Query, Invariants]:
    """Build a query and its invariants from an entry of the config's block `subspace.workloads`.

    Raises InputError if the query is unknown, or incompatible with the invariants.
    """
    kind, size, held = entry["query"], entry["size"], entry["held"]
    if held not in INVARIANTS_BY_QUERY.get(kind, ()):
        raise InputError(
            f"workload: the query {kind!r} does not allow the invariants {held!r}; choose others"
        )
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
    """Build the orthonormal bases that exist, by name.

    The basis "differences" spans the differences alone, the others the whole null space.
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
    """Compute dimensions and sensitivities of each workload, one row each."""
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
    """Build all mechanisms that a workload allows, by name, each at the same guarantee."""
    query, held = build_workload(entry)
    shapes = {
        "best Gaussian": min_trace_shape(query, held),
        "round Gaussian": spherical_shape(query, held),
    }
    for weights in WEIGHTINGS:
        name = f"base decomposition, {weights}"
        shapes[name] = base_decomposition(query, held, weights=weights)
    laws = {
        "projected Gaussian": ProjectedGaussian(query, held, epsilon, delta),
        "extended Gaussian": ExtendedGaussian(query, held, epsilon, delta),
        **{name: CorrelatedGaussian(shape, epsilon, delta) for name, shape in shapes.items()},
        "projected Laplace": ProjectedLaplace(query, held, epsilon),
    }
    for kind, basis in build_bases(entry, query, held).items():
        laws[f"extended Laplace, {kind}"] = ExtendedLaplace(query, held, epsilon, basis)
    with suppress(InputError):  # without an exact sampler
        laws["K-norm"] = KNorm(query, held, epsilon)
    return laws


def tabulate_errors(
    rng: np.random.Generator, workloads: Mapping, epsilon: float, delta: float, draws: int
) -> pd.DataFrame:
    """Compute the error of every mechanism on every workload, exact and simulated.

    Epsilon and delta are for one replaced record; Laplace and K-norm noise have delta 0. `draws` is
    the number of simulated noise vectors for each mechanism.
    """
    rows = []
    for name, entry in workloads.items():
        laws = build_mechanisms(entry, epsilon, delta)
        best = laws["best Gaussian"].shape
        for kind, law in laws.items():
            flavour = law.guarantee.flavour
            if flavour == "approximate":
                scale, spread = law.multiplier**2, min_variance_approximate(epsilon, delta)
            else:
                scale, spread = epsilon**-2, min_variance_pure(epsilon)
            squares = np.square(law.sample(rng, draws)).sum(axis=1)
            row = {
                "workload": name,
                "mechanism": kind,
                "flavour": flavour,
                "error": law.error,
                "unit": law.error / scale,
                "least": best.trace,
                "bound": spread * best.lower,
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
    """Compare the noise of Theorem 3.11 with a lower bound for all additive noise.

    The theorem's order is a multiple of the smallest error. Null spaces with fewer than four
    dimensions are omitted. The first two arguments are from `tabulate_errors` and
    `tabulate_workloads`.
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

    For Gaussian noise the formula is dimension times squared l2 sensitivity, for c = 1. For Laplace
    noise it is twice dimension times squared l1 sensitivity, for epsilon = 1. The sensitivity is
    that of the answers for projected noise, and that within the null space for extended noise.
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
    """Divide the error of extending by that of projecting, for each workload.

    The coordinates that complete the basis of the differences do not change its sensitivity.
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
