"""The release of a table of nested regions whose counts add up at every level.

The published files depend on the confidential counts only through the noisy measurements and the
held totals.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from isdp.arrays import IntArray
from isdp.commands.shared.code_list import describe_code_lists
from isdp.commands.shared.output import output_folder
from isdp.commands.shared.refusals import (
    MAX_PROBABILITY_UNCHANGED,
    WEAK_NOISE,
    bound_along,
    read_accepted,
    refuse,
)
from isdp.commands.shared.table import Table, read_table
from isdp.commands.shared.warnings import warnings_of_names
from isdp.commands.topdown.certificate import LEVEL_OF_MARGINS, describe
from isdp.commands.topdown.presence_file import (
    group_names,
    read_present,
    refuse_another_table,
    refuse_contradictions,
)
from isdp.constraints.hierarchy import Hierarchy
from isdp.errors import InputError
from isdp.exact.bits.discrete_gaussian import check_variance
from isdp.exact.release_noise import parse_epsilon
from isdp.io.certificate import (
    DOCUMENTS,
    now,
    release_documents,
)
from isdp.io.csv_files import quoted_names
from isdp.io.data_package import data_package
from isdp.io.tables import FORMATS, TableFormat, check_format
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from isdp.streams import stream
from isdp.topdown import Budget, Plan, Release, Schema, draw_noise_for_release, run
from isdp.topdown.budget import DETAIL, TOTAL, Flavour
from isdp.topdown.descent import held_levels
from isdp.topdown.known_presence import KnownPresence
from isdp.topdown.margins_of_error import margins_of_error
from isdp.topdown.measurement_noise import draw_noise
from isdp.topdown.run_plan import Passes

ROOT_LEVEL, ROOT_REGION = "all", "all"  # the level above all others, and its only region
RELEASED = [f"released.{extension}" for extension in FORMATS]
FILES = (*RELEASED, "measurements.csv", "budget.csv", *DOCUMENTS)
# the released table has these columns in addition to the axes of the table
RELEASED_COLUMNS = ("level", "region", "count", "margin_simulated")
MAX_AXES = 60  # NumPy's arrays have at most 64 axes
MAX_CELLS = 50_000_000  # maximum number of cells of all levels
LOG = logging.getLogger(__name__)
NOT_WRITTEN = "Nothing is written. Report this error."


@dataclass(frozen=True)
class TopDownOptions:
    """Options of a TopDown release.

    Attributes
    ----------
    levels : tuple of str
        Columns that name the regions, from the largest to the smallest.
    flavour : {"pure", "zCDP"}
        The definition of privacy, as in `PrivacyGuarantee`.
    total : Fraction
        Total privacy loss per person, epsilon or rho.
    held : tuple of str
        Levels whose totals stay exact.
    level_shares : mapping from level to Fraction
        Shares of the budget, by default equal for all levels.
    query_shares : mapping from level to a mapping from query to Fraction
        Shares of each level's budget. The level "" has the shares of all levels that are not named.
    structural_zeros : tuple of mappings from axis to category
        Cells that must be empty. A mapping without an axis selects all categories of the axis.
    present : path or None
        A CSV file of groups of people that are present in regions, as in
        `isdp.commands.topdown.presence_file.read_present`.
    absent_otherwise : bool
        True if groups that are not in that file are absent.
    one_pass : bool
        True to estimate all queries together, false to estimate the totals first.
    experiment : bool
        True to draw in floating point from a pseudo-random generator.
    simulations : int
        Number of runs for the margins of error, or 0 for no margins.
    """

    levels: tuple[str, ...]
    flavour: Flavour
    total: Fraction
    held: tuple[str, ...] = ()
    level_shares: Mapping[str, Fraction] | None = None
    query_shares: Mapping[str, Mapping[str, Fraction]] | None = None
    structural_zeros: tuple[Mapping[str, str], ...] = ()
    present: str | Path | None = None
    absent_otherwise: bool = False
    one_pass: bool = False
    seed: int | None = None
    experiment: bool = False
    simulations: int = 20


@dataclass(frozen=True, eq=False)
class Problem:
    """A table in the form of the input of the algorithm.

    Attributes
    ----------
    counts : int64 array, shape (leaves, cells)
        The confidential counts. The leaves are the smallest regions.
    """

    counts: IntArray
    hierarchy: Hierarchy
    schema: Schema
    categories: tuple[tuple[str, ...], ...]


def topdown(
    table_path: str | Path,
    options: TopDownOptions,
    out: str | Path,
    *,
    count: str = "count",
    hierarchies: Mapping[str, str | Path] | None = None,
    force: bool = False,
    out_format: TableFormat = "csv",
    accept: str | Iterable[str] = (),
    algorithm: Callable[..., Release] = run,
) -> dict[str, Any]:
    """Write the noisy table of all levels and its measurements, and return the certificate.

    Parameters
    ----------
    table_path : path
        A CSV or Parquet file with one row per cell of a smallest region. A cell without a row is
        empty.
    out : path
        Folder for `FILES`, which are written together at the end, or not at all.
    hierarchies : mapping of str to path, optional
        Code lists of columns, as in `isdp.commands.shared.code_list.add_regions`. Only the columns
        of levels are added.
    out_format : {"csv", "parquet"}
        The format of the released table.
    accept : str or iterable of str
        Give "weak-noise" to accept measured counts that stay unchanged with a probability of 0.95
        or more.
    algorithm : callable
        A function in place of `isdp.topdown.run` for tests. The tables are checked.

    Raises
    ------
    InputError
        If an input is invalid or a risk is refused. Nothing is written in this case.
    """
    started = now()
    accepted = read_accepted(accept, (WEAK_NOISE,))
    check_format(out_format)
    inputs = table_path, options.present, *(hierarchies or {}).values()
    folder = output_folder(out, FILES, *inputs, force=force)
    table = read_table(table_path, count, hierarchies=hierarchies, regions=options.levels)
    for warning in warnings_of_names(table):
        LOG.warning("%s", warning)
    problem = arrange(table, options.levels)
    plan = plan_of(problem, options)
    refuse_measurements(plan.budget, accepted, options.experiment)
    rng = np.random.default_rng() if options.seed is None else stream(options.seed, "isdp topdown")
    noise = draw_noise if options.experiment else draw_noise_for_release
    release = algorithm(rng, problem.counts, problem.hierarchy, plan, noise)
    check_release(problem, plan, release)
    margins = None
    if options.simulations:
        runs, level = options.simulations, LEVEL_OF_MARGINS
        margins = margins_of_error(rng, release, problem.hierarchy, plan, runs=runs, level=level)
    certificate = describe(Path(table_path).name, problem, plan, release, options, started, margins)
    certificate["accepted"] = list(accepted)
    certificate["input"]["code_lists"] = describe_code_lists(hierarchies)
    tables = {
        f"released.{out_format}": released_table(problem, release, margins),
        "measurements.csv": measurement_table(problem, plan, release),
        "budget.csv": pd.DataFrame(plan.budget.rows(problem.schema)),
    }
    keys = {"released": ["level", "region", *problem.schema.axes]}

    def documents(digests: dict[str, str]) -> Mapping[str, str | Mapping[str, object]]:
        package = data_package(certificate, tables, digests, counts="count", keys=keys)
        return release_documents(certificate, package, sha256=digests)

    folder.write(tables, documents)
    return certificate


def arrange(table: Table, levels: Sequence[str]) -> Problem:
    """Arrange a table by its hierarchy, with one row of counts per smallest region.

    Regions and categories are sorted by name, so that their order reveals nothing.
    """
    axes = tuple(name for name in table.names if name not in levels)
    missing = [level for level in levels if level not in table.names]
    if missing or len(set(levels)) != len(levels) or ROOT_LEVEL in levels:
        raise InputError(
            f"{table.path}: --levels: {', '.join(levels)} must be different columns of the table "
            f"other than {ROOT_LEVEL!r}. Use some of {quoted_names(table.names)}."
        )
    reserved = [name for name in axes if name in RELEASED_COLUMNS]
    if reserved:
        raise InputError(
            f"{table.path}: the column {reserved[0]!r} has the name of a column of the released "
            f"table. Rename it."
        )
    if len(axes) > MAX_AXES:
        raise InputError(
            f"{table.path}: {len(axes)} columns describe the cells, and at most {MAX_AXES} are "
            f"accepted. Merge columns."
        )
    if not axes:
        raise InputError(f"{table.path}: no column except the levels describes the cells. Add one.")
    categories = {name: tuple(sorted(table.columns[name].texts.tolist())) for name in axes}
    schema = Schema(axes, tuple(map(len, categories.values())))
    places = pd.DataFrame({name: table.columns[name].rows() for name in levels})
    leaves = places.drop_duplicates().sort_values(list(levels)).reset_index(drop=True)
    if len(leaves) * schema.cells * (len(levels) + 1) > MAX_CELLS:
        raise InputError(
            f"{table.path}: {len(leaves):,} regions of {schema.cells:,} cells are too many. Merge "
            f"categories."
        )
    hierarchy = Hierarchy.from_columns(
        {name: leaves[name].tolist() for name in levels}, root=ROOT_LEVEL
    )
    row = pd.MultiIndex.from_frame(leaves).get_indexer(pd.MultiIndex.from_frame(places))
    place = []  # the category of each row, along each axis
    for name in axes:
        codes, texts = table.columns[name]
        place.append(pd.Index(categories[name]).get_indexer(texts.astype(object))[codes])
    counts = np.zeros((len(leaves), schema.cells), dtype=np.int64)
    counts[row, np.ravel_multi_index(tuple(place), schema.shape)] = table.counts
    return Problem(counts, hierarchy, schema, tuple(categories.values()))


def plan_of(problem: Problem, options: TopDownOptions) -> Plan:
    """Complete the options by defaults, and check them.

    By default each level has an equal share of the budget. The detailed query has one half of the
    share of its level. The other half is divided equally between the total, if it is not held, and
    the margins along the axes, if there are several axes.

    Raises
    ------
    InputError
        If levels, queries or cells are unknown, shares do not add up to 1, or all cells are
        structural zeros.
    """
    levels, schema = problem.hierarchy.levels, problem.schema
    zeros = _zeros(problem, options.structural_zeros)
    if len(zeros) == schema.cells:
        raise InputError("--structural-zero: all cells are structural zeros. Leave one out.")
    unheld = Plan(schema, _budget(levels, schema, options, len(levels)), options.held)
    held = len(held_levels(problem.hierarchy, unheld))
    budget = _budget(levels, schema, options, held)
    below = [level for level in levels[held:] if TOTAL not in budget.measured_queries(level)]
    if below and not options.one_pass:
        raise InputError(
            f"--query: level {below[0]!r} does not measure {TOTAL!r}, which is estimated first. "
            f"Give it a share, or add --one-pass."
        )
    passes: Passes = "one" if options.one_pass else "isolate_total"
    known = _known(problem, options, zeros, held - 1)
    return Plan(schema, budget, options.held, passes=passes, structural_zeros=zeros, known=known)


def _known(
    problem: Problem, options: TopDownOptions, zeros: tuple[int, ...], depth: int
) -> KnownPresence | None:
    if options.present is None:
        if options.absent_otherwise:
            raise InputError("--absent-otherwise: this option needs --present. Add --present.")
        return None
    tree, schema, categories = problem.hierarchy, problem.schema, problem.categories
    known = read_present(
        options.present, options.levels, schema, categories, tree, zeros, options.absent_otherwise
    )
    names = group_names(known, schema, categories)
    totals = tree.aggregate(problem.counts)[depth].sum(axis=1)
    refuse_contradictions(known, tree, depth, totals, names)
    refuse_another_table(known, schema, tree, problem.counts, names)
    return known


def _budget(levels: Sequence[str], schema: Schema, options: TopDownOptions, held: int) -> Budget:
    shares = options.level_shares or dict.fromkeys(levels, Fraction(1, len(levels)))
    given = options.query_shares or {}
    unknown = [name for name in given if name and name not in levels]
    if unknown:
        raise InputError(
            f"--query: there is no level {unknown[0]!r}. Use one of {', '.join(levels)}."
        )
    queries = {}
    for depth, level in enumerate(levels):
        usual = _usual_queries(schema, asks_total=depth >= held)
        queries[level] = dict(given.get(level) or given.get("") or usual)
        for query in queries[level]:
            schema.kept_axes(query)
    return Budget(options.flavour, options.total, shares, queries)


def _usual_queries(schema: Schema, asks_total: bool) -> dict[str, Fraction]:
    coarse = [TOTAL] * asks_total + list(schema.axes) * (len(schema.axes) > 1)
    if not coarse:
        return {DETAIL: Fraction(1)}
    return dict.fromkeys(coarse, Fraction(1, 2 * len(coarse))) | {DETAIL: Fraction(1, 2)}


def _zeros(problem: Problem, selectors: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
    chosen = np.zeros(problem.schema.shape, dtype=bool)
    for selector in selectors:
        place: list[slice | int] = [slice(None)] * len(problem.schema.axes)
        for axis, category in selector.items():
            if axis not in problem.schema.axes:
                axes = ", ".join(problem.schema.axes)
                raise InputError(
                    f"--structural-zero: there is no axis {axis!r}. Use one of {axes}."
                )
            number = problem.schema.axes.index(axis)
            if category not in problem.categories[number]:
                raise InputError(
                    f"--structural-zero: {axis} has no category {category!r}. Write a category of "
                    f"the table."
                )
            place[number] = problem.categories[number].index(category)
        here = np.zeros_like(chosen)
        here[tuple(place)] = True
        if (problem.counts.reshape(-1, *chosen.shape)[:, here] > 0).any():
            words = ", ".join(f"{axis}={category}" for axis, category in selector.items())
            raise InputError(
                f"--structural-zero: the table has people in {words}. Leave it out, or correct the "
                f"table."
            )
        chosen |= here
    return tuple(int(cell) for cell in np.flatnonzero(chosen.ravel()))


def refuse_measurements(budget: Budget, accepted: Sequence[str], experiment: bool) -> None:
    """Refuse noise that is weak, or that the exact sampler cannot draw.

    Noise is weak if it is zero with a probability of 0.95 or more.
    """
    pure = budget.flavour == "pure"
    option = "--epsilon" if pure else "--rho"
    asked = [(level, query) for level in budget.queries for query in budget.measured_queries(level)]
    for level, query in asked:
        loss = budget.loss(level, query)
        mechanism: Mechanism = (
            GeneralizedLaplace(float(loss / 2))
            if pure
            else GeneralizedGaussian(float(loss) ** -0.5)
        )
        unchanged = bound_along([1], mechanism)
        if unchanged >= MAX_PROBABILITY_UNCHANGED and WEAK_NOISE not in accepted:
            refuse(
                f"{option}: the noise is weak: each measured count of level {level!r}, query "
                f"{query!r}, stays unchanged with a probability of {unchanged:.4f}. Use a smaller "
                f"budget, or a smaller share of it",
                WEAK_NOISE,
            )
        if not experiment:
            try:
                parse_epsilon(loss / 2) if pure else check_variance(1 / loss)
            except InputError:
                raise InputError(
                    f"{option}: the budget of level {level!r}, query {query!r}, is out of range. "
                    f"Change the budget, or this share of it."
                ) from None


def check_release(problem: Problem, plan: Plan, release: Release) -> None:
    """Check the sums and the held totals of the released tables in integer arithmetic."""
    tree = problem.hierarchy
    tables = [release.tables[level] for level in tree.levels]
    if min(int(table.min()) for table in tables) < 0:
        raise InputError(f"topdown: a released count is negative. {NOT_WRITTEN}")
    for above, below in zip(tables, tree.aggregate(tables[-1]), strict=True):
        if (above != below).any():
            raise InputError(f"topdown: the released tables do not add up. {NOT_WRITTEN}")
    true = tree.aggregate(problem.counts)
    for depth in held_levels(tree, plan):
        if (tables[depth].sum(axis=1) != true[depth].sum(axis=1)).any():
            raise InputError(f"topdown: a held total has changed. {NOT_WRITTEN}")
    if plan.known is not None:
        plan.known.check(tables[-1], problem.schema)


def released_table(
    problem: Problem, release: Release, margins: Mapping[str, IntArray] | None
) -> pd.DataFrame:
    """Return all released counts with their margins of error.

    Returns
    -------
    DataFrame
        The columns are level, region, one column per axis, and count (persons). If there are
        margins, the column margin_simulated has their half-widths (persons).
    """
    cells = pd.DataFrame(list(product(*problem.categories)), columns=list(problem.schema.axes))
    parts = []
    for level, names in zip(problem.hierarchy.levels, problem.hierarchy.units, strict=True):
        part = pd.concat([cells] * len(names), ignore_index=True)
        part.insert(0, "level", level)
        part.insert(1, "region", np.repeat([name or ROOT_REGION for name in names], len(cells)))
        part["count"] = release.tables[level].ravel()
        if margins is not None:
            part["margin_simulated"] = margins[level].ravel()
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def measurement_table(problem: Problem, plan: Plan, release: Release) -> pd.DataFrame:
    """Return all noisy measurements.

    Returns
    -------
    DataFrame
        The columns are level, region, query, answer (the categories along the query's axes),
        measured (persons) and variance. The variance of discrete Gaussian noise is its bound
        sigma^2.
    """
    parts = []
    for level, names in zip(problem.hierarchy.levels, problem.hierarchy.units, strict=True):
        lines = [
            (query, ", ".join(some), plan.budget.variance(level, query))
            for query in plan.budget.measured_queries(level)
            for some in product(*(problem.categories[k] for k in problem.schema.kept_axes(query)))
        ]
        part = pd.DataFrame(lines * len(names), columns=["query", "answer", "variance"])
        part.insert(0, "level", level)
        part.insert(1, "region", np.repeat([name or ROOT_REGION for name in names], len(lines)))
        part.insert(4, "measured", release.measurements[level].ravel())
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
