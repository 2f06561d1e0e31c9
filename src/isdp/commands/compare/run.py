"""Errors of the systems at several budgets, for a table and held totals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

import numpy as np
import pandas as pd

from isdp.accounting import upper_decimal
from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.checks import check_integer
from isdp.commands.compare.expected_errors import (
    ErrorMoments,
    by_simulation,
    from_moments,
    of_plain_noise,
    of_swapping,
)
from isdp.commands.compare.question import CELLS, NO_COUNTS, Question, read_question
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.margins import EXACT, Estimate
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

PERSON = "one person who changes cell"
SIZES = {"0": 0, "1 to 9": 1, "10 to 99": 10, "100 or more": 100}
ALL = "all"
MIN_RUNS, MAX_RUNS = 10, 10_000
MAX_BUDGETS = 20
MAX_RECORDS = 50_000_000  # of a region; swapping keeps all of them in memory
NEEDS_COUNTS = "its errors depend on the counts, which are missing; give a --stand-in"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of a comparison.

    Attributes
    ----------
    errors : DataFrame
        One row per system, budget, query and class of true size: system, paper, parameter,
        budget, flavour, unit, query, size, answers; rmse (root mean squared error of an answer)
        and bias (mean error), in persons, each with _is ("exact", "bounded" from above or
        "simulated") and _error (two standard errors of a simulated one, else 0); rank, from 1,
        among the systems of one flavour, unit and budget. Systems whose errors differ by less
        than two standard errors share a rank.
    systems : DataFrame
        One row per system and budget: system, paper, parameter, budget, flavour, unit, loss
        (for one unit), holds, whole, nonnegative, unbiased, guarantee (in words).
    left_out : DataFrame
        Systems that do not apply: system, paper, parameter, budget, reason.
    """

    question: Question
    errors: pd.DataFrame
    systems: pd.DataFrame
    left_out: pd.DataFrame
    simulations: int


def compare(
    cells_path,
    invariants_path,
    *,
    epsilons: Sequence[float] = (),
    rhos: Sequence[float] = (),
    rates: Sequence[float] = (),
    simulations: int = 20,
    seed: int = 0,
    **files,
) -> Comparison:
    """Compare the five papers' systems on a table, each at its own budgets.

    Parameters
    ----------
    epsilons, rhos : sequence of float
        Privacy loss for one person who changes cell, pure or zero-concentrated. Systems without a
        budget are not compared.
    rates : sequence of float
        Swap rates, between 0 and 1.
    simulations : int
        Number of runs for each simulated figure, from 10 to 10,000.
    seed : int
        Equal seeds give equal results.
    **files
        As for `isdp.commands.compare.question.read_question`: stand_in, sums_path, region, area,
        count, names.

    Raises
    ------
    InputError
        If a file or a number is invalid, or no system applies.
    """
    simulations, seed = (
        check_integer("compare", "simulations", simulations),
        check_integer("compare", "seed", seed),
    )
    if not MIN_RUNS <= simulations <= MAX_RUNS:
        raise InputError(
            f"compare: simulations must be from {MIN_RUNS} to {MAX_RUNS:,}, got {simulations}"
        )
    budgets = _budgets({"epsilon": epsilons, "rho": rhos, "rate": rates})
    question = read_question(cells_path, invariants_path, **files)
    return _compare(question, budgets, simulations, seed)


def _budgets(given: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    if not any(len(each) for each in given.values()):
        raise InputError(f"compare: give a budget: {', '.join(f'--{name}' for name in given)}")
    for name, values in given.items():
        if len(set(values)) > MAX_BUDGETS:
            raise InputError(f"--{name}: too many values; give at most {MAX_BUDGETS}")
    return {name: sorted(set(values)) for name, values in given.items()}


def _systems(question: Question) -> list[System]:
    found: list[System] = [
        IntegerLaplace(),
        KNormNoise(),
        ProjectedLaplaceNoise(),
        ConditionedNoise(),
    ]
    for name, flavour in (("epsilon", "pure"), ("rho", "zCDP")):
        found.append(TopDown(lambda spent, f=flavour: _plan(question, f, spent), "TopDown", name))
    return [*found, IntegerGaussian(), ProjectedGaussianNoise(), Swapping()]


def _plan(question: Question, flavour: str, spent: float):
    """Return the default plan of `isdp topdown`."""
    wish = TopDownOptions(LEVELS[1:], flavour, Fraction(repr(spent)), held=(LEVELS[1],))
    return plan_of(question.nested.problem, wish)


def _compare(question: Question, budgets, simulations: int, seed: int) -> Comparison:
    errors, systems, left_out = [], [], []
    wanted = list(_wanted(question))
    for system in _systems(question):
        for budget in budgets[system.parameter]:
            labels = {"system": system.name, "paper": system.paper}
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
        raise InputError(f"compare: no system applies; {_reasons(left_out)}")
    table = pd.DataFrame(errors)
    table["rank"] = _ranks(table)
    columns = ["system", "paper", "parameter", "budget", "reason"]
    left = pd.DataFrame(left_out, columns=columns)
    return Comparison(question, table, pd.DataFrame(systems), left, simulations)


def _reasons(left_out: Sequence[Mapping]) -> str:
    reasons = dict.fromkeys(f"{row['system']}: {row['reason']}" for row in left_out)
    return "; ".join(reasons)


def _wanted(question: Question) -> Iterator[tuple[HeldTotals, str, np.ndarray]]:
    """List the queries with the answers of each class of true size; only cells have classes."""
    for query in question.queries:
        yield query, ALL, np.ones(query.totals, dtype=bool)
        if query.name == CELLS and question.counts is not None:
            classes = np.digitize(question.counts, list(SIZES.values())) - 1
            for number, size in enumerate(SIZES):
                if (classes == number).any():
                    yield query, size, classes == number


def _check(system: System, question: Question) -> None:
    """Refuse a system that does not apply, with the reason."""
    if system.needs_counts and question.source == NO_COUNTS:
        raise InputError(NEEDS_COUNTS)
    if isinstance(system, ConditionedNoise) and not question.disjoint:
        raise InputError("it is worked out for disjoint totals that hold every cell; here not")
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


def _placed(system: System, question: Question) -> tuple[Areas, np.ndarray]:
    return question.by_blocks() if isinstance(system, ConditionedNoise) else question.by_areas()


def _unit(guarantee: PrivacyGuarantee) -> str:
    return guarantee.unit if guarantee.loss_per_person is None else PERSON


def _described(system: System, guarantee: PrivacyGuarantee) -> dict:
    person = guarantee.loss_per_person
    return {
        "loss": upper_decimal(guarantee.loss if person is None else person),
        "holds": guarantee.held,
        "whole": system.whole,
        "nonnegative": system.nonnegative,
        "unbiased": system.unbiased,
        "guarantee": guarantee.statement(),
    }


def _row(query: HeldTotals, size: str, chosen: np.ndarray, rmse: Estimate, bias: Estimate) -> dict:
    row = {"query": query.name, "size": size, "answers": int(chosen.sum())}
    for name, mean in (("rmse", rmse), ("bias", bias)):
        row |= {name: mean.value, f"{name}_is": mean.method, f"{name}_error": mean.error}
    return row


def _errors(
    system: System, budget: float, question: Question, wanted, simulations: int, seed: int
) -> list[tuple[Estimate, Estimate]]:
    """Root mean squared error and bias for each query and class."""
    found: list[tuple[Estimate, Estimate] | None] = []
    law = None
    if isinstance(system, PlainNoise) and question.free.blocks is None:
        law = system.sampler(question.free.invariants, budget)  # refuses if none is practical
    moments_of = _moments(system, budget, question)
    for query, group in groupby(wanted, key=lambda one: one[0]):
        moments = moments_of(query)
        for _, _, chosen in group:
            found.append(None if moments is None else from_moments(moments, chosen))
    open_ones = [place for place, means in enumerate(found) if means is None]
    if not open_ones:
        return found

    if isinstance(system, PlainNoise):
        law = law or system.sampler(question.free.invariants, budget)
    else:
        areas, rows = _placed(system, question)
        if isinstance(system, Swapping):
            _refuse_many_records(areas)

    def draw(run: int) -> np.ndarray:
        rng = stream(seed, "isdp compare", f"{system.name}, {system.parameter} {budget!r}", run)
        if law is not None:
            return law.sample(rng, 1)[0].astype(float)
        errors = np.empty(question.cells)
        errors[rows] = system.release(rng, areas, budget) - areas.counts
        return errors

    open_queries = [(wanted[place][0], wanted[place][2]) for place in open_ones]
    what = f"simulating {system.name} at {system.parameter} {budget:g}"
    with progress(what, simulations) as at:
        simulated = by_simulation(draw, simulations, open_queries, at)
    for place, means in zip(open_ones, simulated, strict=True):
        found[place] = means
    return found


def _moments(
    system: System, budget: float, question: Question
) -> Callable[[HeldTotals], ErrorMoments | None]:
    """Return a function from queries to moments; it returns None if they are not known."""
    swapped = of_swapping(budget, question) if isinstance(system, Swapping) else None

    def moments_of(query: HeldTotals) -> ErrorMoments | None:
        if question.determines(query):
            return ErrorMoments(np.zeros(query.totals), np.zeros(query.totals), EXACT)
        if isinstance(system, PlainNoise):
            return of_plain_noise(system, budget, question, query)
        return None if swapped is None else swapped.of(query)

    return moments_of


def _refuse_many_records(areas: Areas) -> None:
    most = max(int(areas.counts[rows].sum()) for rows in areas.blocks.values())
    if most > MAX_RECORDS:
        raise InputError(
            f"its simulation would take {most:,} records of one region into memory, more than "
            f"{MAX_RECORDS:,}"
        )


def _ranks(errors: pd.DataFrame) -> np.ndarray:
    """Rank by error: 1 plus the number of systems whose error is smaller by two standard errors.

    Ranks are within one flavour, unit, budget, query and class of size.
    """
    ranks = np.ones(len(errors), dtype=int)
    keys = ["flavour", "unit", "parameter", "budget", "query", "size"]
    for rows in errors.groupby(keys, sort=False).indices.values():
        rmse = errors["rmse"].to_numpy()[rows]
        doubt = errors["rmse_error"].to_numpy()[rows]
        apart = np.hypot(doubt[:, None], doubt) + 1e-9 * np.maximum(rmse[:, None], rmse)
        ranks[rows] += (rmse[None, :] < rmse[:, None] - apart).sum(axis=1)
    return ranks
