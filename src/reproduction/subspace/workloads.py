"""Mechanisms on several workloads: sensitivities, errors, and how near they are to the least."""

from __future__ import annotations

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
    consistency,
    difference_basis,
    kronecker_basis,
    least_trace,
    null_basis,
    null_sensitivity,
    null_space,
    quotient_sensitivity,
    sensitivity,
    spherical,
    together,
)
from isdp.subspace.additive import Additive
from isdp.subspace.bounds import approximate_spread, pure_spread
from isdp.subspace.factorisation import WEIGHTINGS
from isdp.subspace.sensitivities import rank_of_differences

HELD = ("total", "margins", "blocks", "total and consistency")
QUERIES = ("histogram", "ranges", "prefixes", "hierarchy", "margins")


def build(entry: Mapping) -> tuple[Query, Invariants]:
    """Make a query and its invariants from an entry of the config.

    Parameters
    ----------
    entry : mapping
        `query`: histogram, ranges, prefixes, hierarchy or margins. `size`: number of types, the
        sizes of a table (histogram under margins, margins), the sizes of the blocks, or the
        children of a node at each level. `kept`: the margins asked (margins). `held`: total,
        margins (both of a two-way table), blocks, or total and consistency.

    Raises
    ------
    InputError
        If a word is unknown, or query and `held` do not go together.
    """
    kind, size, held = entry["query"], entry["size"], entry["held"]
    if kind not in QUERIES or held not in HELD:
        raise InputError(
            f"workload: query must be one of {', '.join(QUERIES)} and held one of "
            f"{', '.join(HELD)}, got {kind!r} and {held!r}"
        )
    if kind == "histogram":
        return _histogram(size, held)
    if held not in ("total", "total and consistency"):
        raise InputError(f"workload: {held!r} is held for histograms only")
    if kind == "margins":
        query = Query.margins(size, entry["kept"])
        first = int(np.prod([size[axis] for axis in entry["kept"][0]]))
        total = Invariants.subsets([range(first)], query.answers, ["total"])
    else:
        query = getattr(Query, kind)(size)
        position = {"ranges": query.types, "prefixes": query.types, "hierarchy": 1}[kind] - 1
        total = Invariants.subsets([[position]], query.answers, ["total"])
    return query, total if held == "total" else together(total, consistency(query))


def _histogram(size, held: str) -> tuple[Query, Invariants]:
    cells = int(np.prod(size)) if held == "margins" else int(np.sum(size))
    invariants = {
        "total": lambda: Invariants.total(cells),
        "blocks": lambda: Invariants.partition(np.repeat(np.arange(len(size)), size).tolist()),
        "margins": lambda: Invariants.margins(size),
    }
    if held not in invariants:
        raise InputError("workload: the counts of a histogram are tied by nothing")
    return Query.histogram(cells), invariants[held]()


def bases_of(entry: Mapping, query: Query, invariants: Invariants) -> dict:
    """Orthonormal bases by name, without those that do not fit.

    All but "differences" are bases of the null space that are written down. "differences" spans the
    differences alone.
    """
    bases = {}
    if entry["held"] == "margins":
        bases = {kind: kronecker_basis(entry["size"], kind=kind) for kind in ("haar", "helmert")}
    else:
        for kind in ("haar", "helmert", "hadamard", "cosine"):
            with suppress(InputError):
                bases[kind] = null_basis(invariants, kind)
    return bases | {"differences": difference_basis(query, invariants)}


def workload_table(workloads: Mapping[str, Mapping]) -> pd.DataFrame:
    """Dimensions and sensitivities of each workload, one row each.

    Returns
    -------
    DataFrame
        workload, answers, constraints (their rank), dimension (of the null space), rank (of the
        differences in it), l1 and l2_squared of the answers, null_l2_squared (within the null
        space, any basis), quotient (what projected Laplace noise hangs on exactly), and l1_BASIS.
    """
    rows = []
    for name, entry in workloads.items():
        query, held = build(entry)
        null = null_space(held)
        rows.append(
            {
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
            | {
                f"l1_{kind}": basis_sensitivity(query, basis)
                for kind, basis in bases_of(entry, query, held).items()
            }
        )
    return pd.DataFrame(rows)


def mechanisms_of(entry: Mapping, epsilon: float, delta: float) -> dict[str, Additive]:
    """All mechanisms that can be had for a workload, by name, each at the same guarantee."""
    query, held = build(entry)
    shapes = {"best Gaussian": least_trace(query, held), "round Gaussian": spherical(query, held)}
    for weights in WEIGHTINGS:
        shape = base_decomposition(query, held, weights=weights)
        shapes[f"base decomposition, {weights}"] = shape
    laws = {
        "projected Gaussian": ProjectedGaussian(query, held, epsilon, delta),
        "extended Gaussian": ExtendedGaussian(query, held, epsilon, delta),
        **{name: CorrelatedGaussian(shape, epsilon, delta) for name, shape in shapes.items()},
        "projected Laplace": ProjectedLaplace(query, held, epsilon),
    }
    for kind, basis in bases_of(entry, query, held).items():
        laws[f"extended Laplace, {kind}"] = ExtendedLaplace(query, held, epsilon, basis)
    with suppress(InputError):  # no exact sampler: the walk is for the table of equal privacy
        laws["K-norm"] = KNorm(query, held, epsilon)
    return laws


def error_table(
    rng: np.random.Generator,
    workloads: Mapping[str, Mapping],
    epsilon: float,
    delta: float,
    draws: int,
) -> pd.DataFrame:
    """Error of every mechanism on every workload, exact and simulated, beside the lower bound.

    Parameters
    ----------
    rng : numpy.random.Generator
    workloads : mapping from name to entry
    epsilon, delta : float
        Of one replaced record; Laplace and K-norm noise have delta 0.
    draws : int
        Simulated noise vectors a mechanism.

    Returns
    -------
    DataFrame
        workload, mechanism, flavour, error (expected squared error, all answers together), unit
        (error by c^2 for Gaussians and by epsilon^2 for others, so that it is a number of the
        workload's), least (the least error by c^2 of Gaussians, Gamma^2), bound (no additive
        mechanism has less), ratio (error over bound), simulated, simulated_se and z.
    """
    rows = []
    for name, entry in workloads.items():
        laws = mechanisms_of(entry, epsilon, delta)
        best = laws["best Gaussian"].shape
        for kind, law in laws.items():
            gaussian = law.guarantee().flavour == "approximate"
            spread = approximate_spread(epsilon, delta) if gaussian else pure_spread(epsilon)
            squares = np.square(law.sample(rng, draws)).sum(axis=1)
            se = float(squares.std(ddof=1) / np.sqrt(draws))
            rows.append(
                {
                    "workload": name,
                    "mechanism": kind,
                    "flavour": law.guarantee().flavour,
                    "error": law.error,
                    "unit": law.error / (law.multiplier**2 if gaussian else epsilon**-2),
                    "least": best.trace,
                    "bound": spread * best.lower,
                    "ratio": law.error / (spread * best.lower),
                    "simulated": float(squares.mean()),
                    "simulated_se": se,
                    "z": (float(squares.mean()) - law.error) / se,
                }
            )
    return pd.DataFrame(rows)


def near_optimal_table(errors: pd.DataFrame, workloads: pd.DataFrame, delta: float) -> pd.DataFrame:
    """Compare the noise of Theorem 3.11 with the least possible error and the theorem's order.

    The theorem's order is log^2 m log(1/delta), in the dimension m of the null space, and is a
    multiple of the least error of all mechanisms of the same guarantee. A lower bound for all
    additive noise takes the place of that error.

    Parameters
    ----------
    errors, workloads : DataFrame
        From `error_table` and `workload_table`.
    delta : float
        That of the Gaussian noise.

    Returns
    -------
    DataFrame
        One row a workload with a null space of four dimensions or more: dimension; error of the
        base decomposition by c^2, least (the same of the best Gaussian noise), ratio of the two;
        to_bound (its error by the lower bound for all additive noise), order (square of log2 of the
        dimension, times the natural logarithm of 1/delta), and part (to_bound by order).
    """
    paper = errors[errors["mechanism"] == "base decomposition, paper"].set_index("workload")
    paper = paper[["unit", "least", "ratio"]].rename(columns={"ratio": "to_bound"})
    table = workloads.set_index("workload")[["dimension"]].join(paper)
    table = table[table["dimension"] >= 4]
    table.insert(3, "ratio", table["unit"] / table["least"])
    table["order"] = np.log2(table["dimension"]) ** 2 * -np.log(delta)
    table["part"] = table["to_bound"] / table["order"]
    return table.reset_index()


def formula_table(errors: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Set the errors of the four general mechanisms beside their formulas (Corollaries 3.5 to 3.9).

    A Gaussian's is dimension times squared l2 sensitivity, by c^2; a Laplace's is twice dimension
    times squared l1 sensitivity, by epsilon^-2: of the answers where noise is projected, of the
    answers within the null space (for Laplace noise, in a basis) where it is extended. In the basis
    "differences" the rank of the differences takes the place of the dimension.

    Parameters
    ----------
    errors, workloads : DataFrame
        From `error_table` and `workload_table`.

    Returns
    -------
    DataFrame
        workload, mechanism, formula, unit (of the exact covariance), off (relative difference of
        the two), z (of the simulation).
    """
    rows = []
    known = workloads.set_index("workload")
    for _, row in errors.iterrows():
        kind, _, basis = row["mechanism"].partition(", ")
        of = {
            "projected Gaussian": "l2_squared",
            "extended Gaussian": "null_l2_squared",
            "projected Laplace": "l1",
            "extended Laplace": f"l1_{basis}",
        }
        if kind not in of:
            continue
        size = known.loc[row["workload"], of[kind]]
        each = size if kind.endswith("Gaussian") else 2 * size**2
        coordinates = "rank" if basis == "differences" else "dimension"
        formula = float(known.loc[row["workload"], coordinates] * each)
        named = {key: row[key] for key in ("workload", "mechanism", "unit", "z")}
        rows.append(named | {"formula": formula, "off": abs(row["unit"] / formula - 1)})
    columns = ["workload", "mechanism", "formula", "unit", "off", "z"]
    return pd.DataFrame(rows, columns=columns)


def framework_table(errors: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Divide the error of extending by that of projecting, for each workload.

    Parameters
    ----------
    errors, workloads : DataFrame
        From `error_table` and `workload_table`.

    Returns
    -------
    DataFrame
        workload; gaussian (at most 1); named_min and named_max (Laplace noise, over the bases that
        are written down; blank where none fits); differences (Laplace noise in the basis of the
        differences, noise in their span alone); differences_full (that basis completed to the null
        space, with noise in all of it, which the new coordinates do not make more sensitive).
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
