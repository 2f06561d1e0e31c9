"""The content of the certificate of a TopDown release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isdp.accounting.guarantees import upper_decimal
from isdp.arrays import IntArray
from isdp.commands.disclosure.protection import ProtectionFacts, protection_sentences
from isdp.commands.shared.guarantee import MoveLosses
from isdp.commands.shared.opening import opening, protection
from isdp.io.certificate import FOR_RELEASE, FORMAT, NO_GUARANTEE, NOT_FOR_RELEASE, SEED_KNOWN
from isdp.io.versions import versions
from isdp.io.wording import capitalized, counted, listed
from isdp.topdown import Plan, Release
from isdp.topdown.budget import DETAIL
from isdp.topdown.descent import held_levels

if TYPE_CHECKING:
    from isdp.commands.topdown.run import Problem, TopDownOptions

LEVEL_OF_MARGINS = 0.9
NOT_SAID = (
    "The guarantee is for one person who changes cell, and for this release only. Each further "
    "release of the same data adds its loss.",
    "The guarantee compares tables with equal numbers of people, equal held totals, the same "
    "listed groups present or absent, and empty structural zeros. All of this is published "
    "exactly, and no guarantee covers what it reveals.",
    "The names of levels, regions and categories are published unchanged.",
    "Released counts are not negative. This biases empty cells upwards and other cells downwards. "
    "The noisy measurements are unbiased.",
    "Margins of error are simulated from the release itself, so that their level is approximate.",
    "The time of the computation and the memory of the machine are outside the guarantee.",
)


def _noise(
    plan: Plan, levels: Sequence[str], margins: Mapping[str, IntArray] | None, runs: int
) -> str:
    """State the size of the errors of counts of the smallest regions and of the whole table."""
    lowest = levels[-1]
    if margins is None:
        variance = plan.budget.variance(lowest, DETAIL)
        return (
            f"The noise of each measured cell of a {lowest} has a standard deviation of at most "
            f"{upper_decimal(math.sqrt(variance), 3)} persons. No margin of error of the released "
            f"counts was simulated."
        )
    (typical, largest), (whole, _) = (
        (int(np.median(margins[level])), int(margins[level].max())) for level in (lowest, levels[0])
    )
    return (
        f"With a probability of {LEVEL_OF_MARGINS:.0%}, the error of a count of one {lowest} is "
        f"within {counted(typical, 'person')} for half of the counts, and within {largest:,} for "
        f"all. For half of the counts of the whole table it is within {whole:,}. These "
        f"limits come from {runs} simulations on the release, and the probability is approximate."
    )


def move_losses(problem: Problem, plan: Plan) -> MoveLosses:
    """Return bounds on the losses of the moves of one person, from the queries that change.

    If totals or groups are held, every move is possible if a second person moves back.
    """
    tree, schema, budget = problem.hierarchy, problem.schema, plan.budget
    free = np.ones(schema.cells, dtype=bool)
    free[list(plan.structural_zeros)] = False
    free = free.reshape(schema.shape)
    axes = [k for k in range(free.ndim) if free.sum(axis=k).max() > 1]
    asked = [(level, query) for level in tree.levels for query in budget.measured_queries(level)]
    # a move to another category along one axis, or to another region without another category
    moves = [[(x, q) for x, q in asked if k in schema.kept_axes(q)] for k in axes]
    held = len(held_levels(tree, plan))
    for depth in range(held, len(tree.levels)):
        if np.bincount(tree.parents[depth]).max() > 1:
            moves.append([(x, q) for x, q in asked if x in tree.levels[depth:]])
    alone = budget.spent
    nearest = alone
    if plan.known is None:  # listed groups can prevent a move
        losses = [sum((budget.loss(*one) for one in move), Fraction(0)) for move in moves]
        nearest = min([alone, *losses])
    together = held > 1 or plan.known is not None
    guarantee = budget.guarantee_of()
    return MoveLosses(nearest, alone, guarantee.loss_at(2) if together else alone)


def describe(
    table: str,
    problem: Problem,
    plan: Plan,
    release: Release,
    options: TopDownOptions,
    started: str,
    margins: Mapping[str, IntArray] | None,
) -> dict[str, Any]:
    """Return the certificate for JSON, without the hashes of the files.

    `margins` are the half-widths of the margins of error of all levels, or None.
    """
    levels = problem.hierarchy.levels
    held = [
        "number of people" if depth == 0 else f"total of each {levels[depth]}"
        for depth in held_levels(problem.hierarchy, plan)
    ]
    exact = listed([f"the {name}" for name in held])
    losses = move_losses(problem, plan)
    return {
        "made_by": "isdp topdown",
        "format": FORMAT,
        "for_release": not options.experiment,
        "status": NOT_FOR_RELEASE if options.experiment else FOR_RELEASE,
        "date": started,
        "summary": opening(
            f"{capitalized(exact)} {'is' if len(held) == 1 else 'are'} exact. No released count is "
            f"negative, and the counts of all levels add up.",
            _noise(plan, levels, margins, options.simulations),
            protection(
                release.guarantee,
                for_release=not options.experiment,
                exact=exact,
                losses=losses,
            ),
        ),
        "input": {"table": table, "levels": list(levels), "axes": list(problem.schema.axes)},
        "protection": protection_sentences(
            release.guarantee,
            ProtectionFacts(
                "the presence" if len(held) == 1 else f"the {levels[len(held) - 1]}",
                size_held=True,
                losses=losses,
            ),
            not options.experiment,
        ),
        "guarantee": release.guarantee.record(),
        "budget": [
            {"level": level, "loss": str(sum(plan.budget.loss(level, q) for q in asked))}
            | {"queries": list(asked)}
            for level in levels
            for asked in [plan.budget.measured_queries(level)]
        ],
        "held": held,
        "present": None
        if plan.known is None or options.present is None
        else {
            "file": Path(options.present).name,
            "axes": list(plan.known.axes),
            "listed": int((plan.known.min_counts > 0).sum()),
            "absent_otherwise": options.absent_otherwise,
        },
        "structural_zeros": [dict(each) for each in options.structural_zeros],
        "passes": plan.passes,
        "checked_in_integers": ["no count below zero", "every level adds up", "held totals"]
        + ["groups that are present"] * (plan.known is not None),
        "margins": f"{options.simulations} simulations; the error of a new simulation is within "
        f"the margin with a probability of {LEVEL_OF_MARGINS:.0%} or more"
        if options.simulations
        else "none",
        "output": {"regions": [len(names) for names in problem.hierarchy.units], "sha256": {}},
        "versions": versions("numpy", "scipy"),
        "not_said": [
            *[NO_GUARANTEE] * options.experiment,
            *[SEED_KNOWN] * (options.seed is not None),
            *NOT_SAID,
        ],
    }
