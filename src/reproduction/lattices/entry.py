"""Build the lattice experiments from their entries in the configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace


@dataclass(frozen=True)
class Experiment:
    """Invariants of a contingency table, or of records.

    `axes` maps the axes of a contingency table to their categories, and is None for records.
    `counts` is an int64 array of the confidential counts in the shape of the table, or None.
    """

    invariants: Invariants
    cells: list[str]
    axes: dict[str, list[str]] | None = None
    counts: np.ndarray | None = None


def build_experiment(entry: Mapping) -> Experiment:
    """Build an experiment from its entry in the configuration."""
    if "axes" in entry:
        return build_table(entry["axes"], entry["held"], entry.get("counts"))
    return build_subsets(entry["records"], entry["constraints"])


def build_table(
    axes: Mapping[str, Sequence], held: Sequence[Sequence[str]], counts=None
) -> Experiment:
    """Build a contingency table of any shape with any set of fixed margins.

    `axes` maps names to categories. Each margin in `held` is the list of its axes. `counts` are
    nested lists in the shape of the table. Raises InputError if a margin has an unknown axis, or
    the counts have another shape than the table. It also raises InputError if a count is not a
    whole number of 0 or more.
    """
    names = list(axes)
    shape = tuple(len(categories) for categories in axes.values())
    margins, labels = [], []
    for margin in held:
        for axis in margin:
            if axis not in names:
                raise InputError(
                    f"held: margin {list(margin)}: the axis {axis!r} is unknown. Choose from "
                    f"{', '.join(names)}."
                )
        margins.append(tuple(names.index(axis) for axis in margin))
        for categories in product(*(axes[axis] for axis in margin)):
            pairs = map(" ".join, zip(margin, map(str, categories), strict=True))
            labels.append(", ".join(pairs) or "grand total")
    return Experiment(
        Invariants(Invariants.margins(shape, margins).sparse, labels),
        [" / ".join(map(str, cell)) for cell in product(*axes.values())],
        {name: [str(category) for category in axes[name]] for name in names},
        None if counts is None else _checked_counts(counts, shape),
    )


def build_subsets(records: int, constraints: Mapping[str, Sequence[int]]) -> Experiment:
    """Build the invariants that fix the total of each subset of records.

    Records are numbered from 1. Raises InputError if a constraint lists an unknown record, or lists
    a record twice.
    """
    for name, members in constraints.items():
        for record in members:
            if not 1 <= record <= records:
                raise InputError(
                    f"constraints: {name}: record {record} does not exist. Use 1 to {records}."
                )
    subsets = [[record - 1 for record in members] for members in constraints.values()]
    invariants = Invariants.subsets(subsets, records, list(constraints))
    return Experiment(invariants, [str(i) for i in range(1, records + 1)])


def list_constraint_pairs(constraints: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """List the records of each constraint, with one row per pair of constraint and record."""
    records = pd.Series(constraints, name="record").explode()
    return records.rename_axis("constraint").reset_index()


def build_mechanism(law: Mapping) -> GeneralizedLaplace | GeneralizedGaussian:
    """Build a generalized Gaussian or Laplace mechanism from its entry in the configuration."""
    if "sigma" in law:
        return GeneralizedGaussian(law["sigma"])
    return GeneralizedLaplace(law["epsilon"], law["norm"])


def build_walk(
    experiment: Experiment, law: Mapping, variants: Mapping[str, Mapping], variant: str
) -> LatticeWalk:
    """Build the walk of one variant that samples one distribution."""
    own = variants[variant]
    lattice = kernel_lattice(experiment.invariants, own["basis"])
    return LatticeWalk(lattice, build_mechanism(law), law["proposal"][variant], own["acceptance"])


def drop_proposal(law: Mapping) -> dict:
    """Return the settings of a distribution without the proposals of the walks."""
    return {key: value for key, value in law.items() if key != "proposal"}


def describe_mechanism(law: Mapping) -> str:
    """Describe a mechanism by its name and parameter."""
    if "sigma" in law:
        return f"generalized Gaussian, sigma = {law['sigma']:g}"
    return f"{law['norm']} generalized Laplace, epsilon = {law['epsilon']:g}"


def _checked_counts(counts, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(counts, dtype=object)
    if array.shape != shape:
        raise InputError(f"counts: the shape is {array.shape}. Give counts of shape {shape}.")
    for cell in array.ravel():
        if type(cell) is not int or cell < 0:
            raise InputError("counts: a count is not valid. Give whole numbers of 0 or more.")
    return array.astype(np.int64)
