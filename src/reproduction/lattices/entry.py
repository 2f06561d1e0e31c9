"""A lattice experiment as the config describes it: a table with held margins, or record subsets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.kernel import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk
from isdp.mechanisms.gaussian import GeneralizedGaussian
from isdp.mechanisms.laplace import GeneralizedLaplace


@dataclass(frozen=True)
class Experiment:
    """Invariants on named cells.

    `axes` are those of a contingency table with their categories, and None for record subsets;
    `counts` are the confidential counts, int64 in the table's shape, where there are any.
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
    """Build an experiment from its config entry, of either kind."""
    if "axes" in entry:
        return build_table(entry["axes"], entry["held"], entry.get("counts"))
    return build_subsets(entry["records"], entry["constraints"])


def build_table(
    axes: Mapping[str, Sequence], held: Sequence[Sequence[str]], counts=None
) -> Experiment:
    """Contingency table of any shape with any set of margins held.

    `axes` are names and categories in order, `held` margins, each as the axes that it keeps, and
    `counts` nested lists in the table's shape. Raises InputError if a margin names a missing axis,
    or the counts have another shape or are no counts.
    """
    names = list(axes)
    shape = tuple(len(categories) for categories in axes.values())
    margins, labels = [], []
    for margin in held:
        for axis in margin:
            if axis not in names:
                raise InputError(
                    f"held: margin {list(margin)} names the axis {axis!r}, but the table has "
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
    """Build counting constraints over records: the total of each listed subset is held.

    Records are counted from 1. Raises InputError if a constraint lists a record that does not
    exist, or one twice.
    """
    for name, members in constraints.items():
        for record in members:
            if not 1 <= record <= records:
                raise InputError(
                    f"constraints: {name} holds record {record}, but records go from 1 to {records}"
                )
    subsets = [[record - 1 for record in members] for members in constraints.values()]
    invariants = Invariants.subsets(subsets, records, list(constraints))
    return Experiment(invariants, [str(i) for i in range(1, records + 1)])


def list_constraint_pairs(constraints: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """List the records of each constraint; one row per pair of constraint and record."""
    records = pd.Series(constraints, name="record").explode()
    return records.rename_axis("constraint").reset_index()


def build_mechanism(law: Mapping) -> GeneralizedLaplace | GeneralizedGaussian:
    """Mechanism that a config entry describes: sigma, or epsilon with a norm."""
    if "sigma" in law:
        return GeneralizedGaussian(law["sigma"])
    return GeneralizedLaplace(law["epsilon"], law["norm"])


def build_walk(
    experiment: Experiment, law: Mapping, variants: Mapping[str, Mapping], variant: str
) -> LatticeWalk:
    """Walk of one variant, of a basis and an acceptance, under one law."""
    kind = variants[variant]
    lattice = kernel_lattice(experiment.invariants, kind["basis"])
    return LatticeWalk(lattice, build_mechanism(law), law["proposal"][variant], kind["acceptance"])


def drop_proposal(law: Mapping) -> dict:
    """Give the settings of the law itself, without those of the walks that draw from it."""
    return {key: value for key, value in law.items() if key != "proposal"}


def describe_mechanism(law: Mapping) -> str:
    """Say in a few words which mechanism a config entry describes."""
    if "sigma" in law:
        return f"generalized Gaussian, sigma = {law['sigma']:g}"
    return f"{law['norm']} generalized Laplace, epsilon = {law['epsilon']:g}"


def _checked_counts(counts, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(counts, dtype=object)
    if array.shape != shape:
        raise InputError(f"counts: the counts have shape {array.shape}, the axes give {shape}")
    for cell in array.ravel():
        if type(cell) is not int or cell < 0:
            raise InputError(f"counts: {cell!r} is not a count (a whole number from 0 up)")
    return array.astype(np.int64)
