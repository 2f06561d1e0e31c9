"""Lattice experiments of the config: contingency tables with fixed margins, or record subsets."""

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
    """Invariants on named cells.

    `axes` maps the axes of a contingency table to their categories, and is None for record subsets.
    `counts` are the confidential counts, int64 in the table's shape, or None.
    """

    invariants: Invariants
    cells: list[str]
    axes: dict[str, list[str]] | None = None
    counts: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the table, or the number of records."""
        if self.axes is None:
            return (len(self.cells),)
        return tuple(len(categories) for categories in self.axes.values())


def build_experiment(entry: Mapping) -> Experiment:
    """Build an experiment of either kind from its config entry."""
    if "axes" in entry:
        return build_table(entry["axes"], entry["held"], entry.get("counts"))
    return build_subsets(entry["records"], entry["constraints"])


def build_table(
    axes: Mapping[str, Sequence], held: Sequence[Sequence[str]], counts=None
) -> Experiment:
    """Build a contingency table of any shape with any set of fixed margins.

    `axes` maps names to categories in order. Each margin in `held` is a list of the axes that it
    keeps. `counts` are nested lists in the table's shape. Raises InputError if a margin names an
    unknown axis, or if the counts have another shape or are not counts.
    """
    names = list(axes)
    shape = tuple(len(categories) for categories in axes.values())
    margins, labels = [], []
    for margin in held:
        for axis in margin:
            if axis not in names:
                raise InputError(
                    f"held: margin {list(margin)}: unknown axis {axis!r}; choose from "
                    f"{', '.join(names)}"
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
    """Build invariants over records: the total of each listed subset.

    Records are counted from 1. Raises InputError if a constraint lists an unknown record, or a
    record twice.
    """
    for name, members in constraints.items():
        for record in members:
            if not 1 <= record <= records:
                raise InputError(
                    f"constraints: {name}: record {record} does not exist; use 1 to {records}"
                )
    subsets = [[record - 1 for record in members] for members in constraints.values()]
    invariants = Invariants.subsets(subsets, records, list(constraints))
    return Experiment(invariants, [str(i) for i in range(1, records + 1)])


def list_constraint_pairs(constraints: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """List the records of each constraint, one row per pair of constraint and record."""
    records = pd.Series(constraints, name="record").explode()
    return records.rename_axis("constraint").reset_index()


def build_mechanism(law: Mapping) -> GeneralizedLaplace | GeneralizedGaussian:
    """Build the mechanism of a config entry, from sigma or from epsilon and a norm."""
    if "sigma" in law:
        return GeneralizedGaussian(law["sigma"])
    return GeneralizedLaplace(law["epsilon"], law["norm"])


def build_walk(
    experiment: Experiment, law: Mapping, variants: Mapping[str, Mapping], variant: str
) -> LatticeWalk:
    """Build the walk of one variant, with its basis and acceptance, for one distribution."""
    kind = variants[variant]
    lattice = kernel_lattice(experiment.invariants, kind["basis"])
    return LatticeWalk(lattice, build_mechanism(law), law["proposal"][variant], kind["acceptance"])


def drop_proposal(law: Mapping) -> dict:
    """Return the settings of the distribution itself, without those of the walks."""
    return {key: value for key, value in law.items() if key != "proposal"}


def describe_mechanism(law: Mapping) -> str:
    """Describe the mechanism of a config entry in a few words."""
    if "sigma" in law:
        return f"generalized Gaussian, sigma = {law['sigma']:g}"
    return f"{law['norm']} generalized Laplace, epsilon = {law['epsilon']:g}"


def _checked_counts(counts, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(counts, dtype=object)
    if array.shape != shape:
        raise InputError(f"counts: the shape must be {shape}, as the axes give, not {array.shape}")
    for cell in array.ravel():
        if type(cell) is not int or cell < 0:
            raise InputError("counts: counts must be whole numbers of 0 or more")
    return array.astype(np.int64)
