"""The comparison of systems at several budgets, for a table and held totals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from isdp.accounting import upper_decimal
from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.arrays import BoolArray, FloatArray, IntArray
from isdp.checks import check_integer
from isdp.commands.compare.expected_errors import (
    ErrorMoments,
    by_simulation,
    from_moments,
    of_plain_noise,
    of_swapping,
)
from isdp.commands.compare.level_noise import LevelNoise
from isdp.commands.compare.question import (
    CELLS,
    NEEDS_COUNTS,
    NO_COUNTS,
    Question,
    read_question,
)
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.margins import EXACT, Estimate
from isdp.commands.shared.noise_levels import NoiseLevels, TableLevels
from isdp.commands.topdown.run import TopDownOptions, plan_of
from isdp.compare.areas import LEVELS, Areas
from isdp.compare.systems import (
    ConditionedNoise,
    IntegerGaussian,
    IntegerLaplace,
    KNormNoise,
    PlainNoise,
    ProjectedGaussianNoise,
    ProjectedLaplaceNoise,
    Swapping,
    System,
    TopDown,
    check_budget,
)
from isdp.errors import InputError
from isdp.io.progress import progress
from isdp.streams import stream
from isdp.topdown import Plan

PERSON = "one person who changes cell"
SIZES = {"0": 0, "1 to 9": 1, "10 to 99": 10, "100 or more": 100}
ALL = "all"
MIN_RUNS, MAX_RUNS = 10, 10_000
MAX_BUDGETS = 20
MAX_RECORDS = 50_000_000  # records of a region, which a simulation keeps in memory


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of a comparison.

    Attributes
    ----------
    errors : DataFrame
        One row per system, budget, query and size class of the true count. The columns system,
        paper, parameter, budget, flavour, unit, query, size and answers describe the row. The
        columns rmse and bias are the root mean square error and the mean error in persons. The
        columns rmse_is and bias_is have the method ("exact", "bounded" from above or "simulated").
        The columns rmse_error and bias_error have two standard errors of a simulated number, or 0.
        The column rank counts from 1 within one flavour, unit and budget. Systems whose errors
        differ by less than two standard errors share a rank.
    systems : DataFrame
        One row per system and budget. The columns are system, paper, parameter, budget, flavour,
        unit, loss (for one unit), holds, whole, nonnegative, unbiased and guarantee (in words).
    left_out : DataFrame
        The systems that do not apply, with the columns system, paper, parameter, budget, reason.
    """

    question: Question
    errors: pd.DataFrame
    systems: pd.DataFrame
    left_out: pd.DataFrame
    simulations: int


def compare(
    cells_path: str | Path,
    invariants_path: str | Path,
    *,
    epsilons: Sequence[float] = (),
    rhos: Sequence[float] = (),
    rates: Sequence[float] = (),
    simulations: int = 20,
    seed: int = 0,
    levels: NoiseLevels | None = None,
    **files: Any,
) -> Comparison:
    """Compare the systems of the five papers on a table, each at its own budgets.

    Parameters
    ----------
    epsilons, rhos : sequence of float
        Privacy loss for one person who changes cell, pure or zero-concentrated. Systems without a
        budget are not compared.
    rates : sequence of float
        Swap rates, between 0 and 1.
    simulations : int
        Number of runs for each simulated number, from 10 to 10,000.
    seed : int
        Equal seeds give equal results.
    levels : NoiseLevels, optional
        The levels of an additional system, whose noise has a term for each total of these levels.
    **files
        The options of `isdp.commands.compare.question.read_question`: stand_in, sums_path, region,
        area, count, names.

    Raises
    ------
    InputError
        If a file or a number is invalid, or no system applies.
    """
    simulations = check_integer("compare", "simulations", simulations)
    seed = check_integer("compare", "seed", seed)
    if not MIN_RUNS <= simulations <= MAX_RUNS:
        raise InputError(
            f"--simulations must be from {MIN_RUNS} to {MAX_RUNS:,}, got {simulations}"
        )
    budgets = _budgets({"epsilon": epsilons, "rho": rhos, "rate": rates})
    question = read_question(cells_path, invariants_path, **files)
    systems = _systems(question)
    if levels is not None:
        if levels.errors:
            raise InputError("--error: a comparison needs budgets. Leave out --error.")
        TableLevels(levels, question.table)  # this raises an error if a column is missing
        if levels.groups is None:
            systems.append(LevelNoise(question, levels, "epsilon"))
        systems.append(LevelNoise(question, levels, "rho"))
    return _compare(question, systems, budgets, simulations, seed)


def _budgets(given: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    if not any(len(each) for each in given.values()):
        options = ", ".join(f"--{name}" for name in given)
        raise InputError(f"{options}: no budget is given. Give one or several of these options.")
    for name, values in given.items():
        if len(set(values)) > MAX_BUDGETS:
            raise InputError(
                f"--{name}: {len(set(values))} values are too many. Give at most {MAX_BUDGETS}."
            )
    return {name: sorted(set(values)) for name, values in given.items()}


def _systems(question: Question) -> list[System]:
    found: list[System] = [
        IntegerLaplace(),
        KNormNoise(),
        ProjectedLaplaceNoise(),
        ConditionedNoise(),
    ]
    found.append(TopDown(partial(_plan, question, "pure"), "TopDown", "epsilon"))
    found.append(TopDown(partial(_plan, question, "zCDP"), "TopDown", "rho"))
    return [*found, IntegerGaussian(), ProjectedGaussianNoise(), Swapping()]


def _plan(question: Question, flavour: Literal["pure", "zCDP"], budget: float) -> Plan:
    if question.nested is None:
        raise InputError(question.why_not_nested)
    options = TopDownOptions(LEVELS[1:], flavour, Fraction(repr(budget)), held=(LEVELS[1],))
    return plan_of(question.nested.problem, options)


def _compare(
    question: Question,
    compared: Sequence[System],
    budgets: Mapping[str, Sequence[float]],
    simulations: int,
    seed: int,
) -> Comparison:
    errors: list[dict[str, Any]] = []
    systems: list[dict[str, Any]] = []
    left_out: list[dict[str, Any]] = []
    wanted = list(_wanted(question))
    for system in compared:
        for budget in budgets[system.parameter]:
            labels: dict[str, Any] = {"system": system.name, "paper": system.paper}
            labels |= {"parameter": system.parameter, "budget": check_budget(system, budget)}
            try:
                _check(system, question)
                guarantee = _guarantee(system, budget, question)
                found = _errors(system, budget, question, wanted, simulations, seed)
            except InputError as reason:
                left_out.append(labels | {"reason": str(reason)})
                continue
            labels |= {"flavour": guarantee.flavour, "unit": _unit(guarantee)}
            systems.append(labels | _described(system, guarantee))
            errors += [
                labels | _row(query, size, chosen, *means)
                for (query, size, chosen), means in zip(wanted, found, strict=True)
            ]
    if not systems:
        reasons = dict.fromkeys(f"{row['system']}: {row['reason']}" for row in left_out)
        raise InputError(f"compare: no system applies. {'; '.join(reasons)}")
    table = pd.DataFrame(errors)
    table["rank"] = _ranks(table)
    columns = ["system", "paper", "parameter", "budget", "reason"]
    left = pd.DataFrame(left_out, columns=columns)
    return Comparison(question, table, pd.DataFrame(systems), left, simulations)


def _wanted(question: Question) -> Iterator[tuple[HeldTotals, str, BoolArray]]:
    """Yield each query with its size classes and a bool array that marks the answers of each class.

    Only the query of the cells has size classes, which are intervals of the true count.
    """
    for query in question.queries:
        yield query, ALL, np.ones(query.totals, dtype=bool)
        if query.name == CELLS and question.counts is not None:
            classes = np.digitize(question.counts, list(SIZES.values())) - 1
            for number, size in enumerate(SIZES):
                if (classes == number).any():
                    yield query, size, classes == number


def _check(system: System, question: Question) -> None:
    if system.needs_counts and question.source == NO_COUNTS:
        raise InputError(NEEDS_COUNTS)
    if isinstance(system, ConditionedNoise) and not question.disjoint:
        raise InputError(
            "this system needs disjoint totals of all cells, and other totals are held here"
        )
    why = ""
    if isinstance(system, TopDown):
        why = question.why_not_regions
    elif isinstance(system, Swapping):
        why = question.why_not_swapped
    if why:
        raise InputError(why)


def _guarantee(system: System, budget: float, question: Question) -> PrivacyGuarantee:
    if isinstance(system, PlainNoise):
        held = "; ".join(one.name for one in question.held)
        return replace(system.noise_guarantee(budget), held=held)
    areas, _ = _placed(system, question)
    return system.guarantee_of(areas, budget)


def _placed(system: System, question: Question) -> tuple[Areas, IntArray]:
    return question.by_blocks() if isinstance(system, ConditionedNoise) else question.by_areas()


def _unit(guarantee: PrivacyGuarantee) -> str:
    return guarantee.unit if guarantee.loss_per_person is None else PERSON


def _described(system: System, guarantee: PrivacyGuarantee) -> dict[str, object]:
    person = guarantee.loss_per_person
    return {
        "loss": upper_decimal(guarantee.loss if person is None else person),
        "holds": guarantee.held,
        "whole": system.whole,
        "nonnegative": system.nonnegative,
        "unbiased": system.unbiased,
        "guarantee": guarantee.statement(),
    }


def _row(
    query: HeldTotals, size: str, chosen: BoolArray, rmse: Estimate, bias: Estimate
) -> dict[str, object]:
    row: dict[str, object] = {"query": query.name, "size": size, "answers": int(chosen.sum())}
    for name, mean in (("rmse", rmse), ("bias", bias)):
        row |= {name: mean.value, f"{name}_is": mean.method, f"{name}_error": mean.error}
    return row


def _errors(
    system: System,
    budget: float,
    question: Question,
    wanted: Sequence[tuple[HeldTotals, str, BoolArray]],
    simulations: int,
    seed: int,
) -> list[tuple[Estimate, Estimate]]:
    draw = None
    if isinstance(system, PlainNoise) and question.free.blocks is None:
        # this raises an error if no sampler is practical
        draw = _error_draws(system, budget, question, seed)
    found: dict[int, tuple[Estimate, Estimate]] = {}
    moments_of = _moments(system, budget, question)
    for query, group in groupby(enumerate(wanted), key=lambda one: one[1][0]):
        moments = moments_of(query)
        if moments is not None:
            found |= {place: from_moments(moments, chosen) for place, (_, _, chosen) in group}
    others = [place for place in range(len(wanted)) if place not in found]
    if others:
        draw = draw or _error_draws(system, budget, question, seed)
        queries = [(wanted[place][0], wanted[place][2]) for place in others]
        task = f"simulating {system.name} at {system.parameter} {budget:g}"
        with progress(task, simulations) as report:
            simulated = by_simulation(draw, simulations, queries, report)
        found |= dict(zip(others, simulated, strict=True))
    return [found[place] for place in range(len(wanted))]


def _error_draws(
    system: System, budget: float, question: Question, seed: int
) -> Callable[[int], FloatArray]:
    """Return a function that takes the number of a run and draws the errors of the cells."""

    def rng_of(run: int) -> np.random.Generator:
        return stream(seed, "isdp compare", f"{system.name}, {system.parameter} {budget!r}", run)

    if isinstance(system, PlainNoise):
        sampler = system.sampler(question.free.invariants, budget)
        return lambda run: sampler.sample(rng_of(run), 1)[0].astype(float)
    areas, rows = _placed(system, question)
    if isinstance(system, Swapping):
        _refuse_many_records(areas)

    def draw(run: int) -> FloatArray:
        errors = np.empty(question.cells)
        errors[rows] = system.release(rng_of(run), areas, budget) - areas.counts
        return errors

    return draw


def _moments(
    system: System, budget: float, question: Question
) -> Callable[[HeldTotals], ErrorMoments | None]:
    swapped = of_swapping(budget, question) if isinstance(system, Swapping) else None

    def moments_of(query: HeldTotals) -> ErrorMoments | None:
        if question.determines(query):
            return ErrorMoments(np.zeros(query.totals), np.zeros(query.totals), EXACT)
        if isinstance(system, PlainNoise):
            return of_plain_noise(system, budget, question, query)
        return None if swapped is None else swapped.of(query)

    return moments_of


def _refuse_many_records(areas: Areas) -> None:
    records = max(int(areas.counts[rows].sum()) for rows in areas.blocks.values())
    if records > MAX_RECORDS:
        raise InputError(
            f"a region has more than {MAX_RECORDS:,} records, which a simulation would keep in "
            f"memory. Use smaller regions"
        )


def _ranks(errors: pd.DataFrame) -> IntArray:
    """Return 1 plus the number of systems whose error is smaller by more than two standard errors.

    Systems of the same flavour, unit and budget are compared, for the same query and size class.
    """
    ranks = np.ones(len(errors), dtype=int)
    keys = ["flavour", "unit", "parameter", "budget", "query", "size"]
    for rows in errors.groupby(keys, sort=False).indices.values():
        rmse = errors["rmse"].to_numpy()[rows]
        error = errors["rmse_error"].to_numpy()[rows]
        tolerance = np.hypot(error[:, None], error) + 1e-9 * np.maximum(rmse[:, None], rmse)
        ranks[rows] += (rmse[None, :] < rmse[:, None] - tolerance).sum(axis=1)
    return ranks
