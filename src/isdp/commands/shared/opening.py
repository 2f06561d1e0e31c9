"""The first sentences of a certificate, about the exact totals, the noise and the protection.

All sentences are generated from the values of the release. None depends on a confidential count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from isdp.accounting.conversions import max_loss
from isdp.accounting.guarantees import Number, PrivacyGuarantee, upper_decimal
from isdp.commands.shared.guarantee import MoveLosses
from isdp.commands.shared.margins import HOW, UNKNOWN, Margin
from isdp.commands.shared.request import DELTA
from isdp.io.certificate import NO_GUARANTEE_IN_SHORT
from isdp.io.wording import capitalized, counted, listed

MAX_FACTOR_EPSILON = 12  # e^12 is 162,755; a larger factor is given as a power of e only
MAX_SETS = 4  # maximum number of sets of totals that are named
CONVERSION: Final = "Canonne-Kamath-Steinke"  # valid for every mechanism with the stated rho
METHODS = {
    "exact": "",
    "bound": " (an upper bound)",
    "simulated": " (simulated from {:,} draws, with two standard errors added)",
}


def opening(exact: str, noise: str, protection: str) -> dict[str, str]:
    """Return the first sentences of a certificate by their subject."""
    return {"exact": exact, "noise": noise, "protection": protection}


def exact_totals(held: Sequence[tuple[str, int]], determined: int) -> str:
    """State the exact totals.

    Parameters
    ----------
    held : sequence of (str, int)
        The name and the number of each set of held totals, such as ("totals by county", 4).
    determined : int
        Number of cells that the totals determine.
    """
    if not held:
        return "No total is held exactly."
    names = [_named(name, totals) for name, totals in held[:MAX_SETS]]
    if len(held) > MAX_SETS:
        names.append(
            counted(len(held) - MAX_SETS, "further set of totals", "further sets of totals")
        )
    alone = len(held) == 1 and held[0][1] == 1
    text = f"{capitalized(listed(names))} {'is' if alone else 'are'} exact."
    if determined:
        cells = counted(determined, "cell, which is", "cells, which are")
        text += f" {'It determines' if alone else 'They determine'} {cells} published exactly too."
    return text


def _named(name: str, totals: int) -> str:
    if name.startswith("totals "):
        return f"the {counted(totals, f'total {name[7:]}', name)}"
    return f"the total of the {name}" if name.startswith("subset ") else f"the {name}"


def noise_of_margins(margins: Sequence[Margin]) -> str:
    """State the size of the noise of a cell, and of the sum of the most cells with noise."""
    known = [m for m in margins if m.limit.method != UNKNOWN and not m.held]
    cells = [m for m in known if m.scope == "cell"]
    sums = [m for m in known if m.scope == "sum"]
    if not cells:
        return "The size of the noise is not known: no exact sampler is fast enough to simulate it."
    size = counted(max(m.stated_limit for m in cells), "person")
    text = f"With a probability of 95 %, the noise of a cell is at most {size} in either direction"
    shown = list(cells)
    if sums:
        largest = max(sums, key=lambda m: (m.cells, m.limit.value))
        shown.append(largest)
        text += f", and that of the sum '{largest.name}' at most {largest.stated_limit:,}"
    methods = {m.limit.method for m in shown}
    how = METHODS[next(words for key, words in HOW.items() if key in methods)]
    draws = min((m.limit.draws for m in shown if m.limit.draws), default=0)
    return f"{text}{how.format(draws)}."


def protection(
    guarantee: PrivacyGuarantee,
    *,
    for_release: bool,
    exact: str,
    delta: float | None = None,
    losses: MoveLosses | None = None,
) -> str:
    """State the protection of the guarantee, and its limits.

    Parameters
    ----------
    exact : str
        Name of the facts that are published exactly, such as "the exact totals".
    delta : float, optional
        A bound on the probability that a zero-concentrated loss exceeds the stated factor.
    losses : MoveLosses, optional
        The losses of the moves of one person. By default, each loss is the loss per person.
    """
    if not for_release:
        return NO_GUARANTEE_IN_SHORT
    loss = guarantee.loss_per_person
    delta = None if guarantee.flavour != "zCDP" else DELTA if delta is None else delta
    if loss is None:
        text = (
            f"The loss is limited per unit of distance between two tables. No loss per person is "
            f"known, because {guarantee.why_not_per_person}."
        )
    else:
        losses = losses or MoveLosses(loss, loss, loss)
        text = (
            f"The cell of each person is protected among tables that agree in {exact}. Between the "
            f"nearest two of them that differ in the cell of one person, a reader's odds change at "
            f"most by a factor of {_factor(losses.nearest, delta)}."
        )
        if losses.alone > losses.nearest:
            text += (
                f" If one person changes between any other cells alone, the factor is at most "
                f"{_factor(losses.alone, delta)}."
            )
        if losses.farthest is None:
            text += " For other pairs of cells, no bound is known."
        elif losses.farthest > losses.alone:
            text += (
                f" For other pairs of cells, more people have to change cell, and the factor is at "
                f"most {_factor(losses.farthest, delta)}."
            )
        if delta:
            text += (
                f" Each factor is exceeded with a probability of at most {upper_decimal(delta)}."
            )
    return f"{text} No guarantee covers {exact} and all that follows."


def _factor(loss: Number, delta: float | None) -> str:
    """Write the factor e^epsilon, which a zero-concentrated loss exceeds with probability delta."""
    epsilon = loss if delta is None else max_loss(loss, delta)
    power = f"e^{upper_decimal(epsilon, 3)}"
    if epsilon > MAX_FACTOR_EPSILON:
        return power
    return f"{float(upper_decimal(math.exp(epsilon), 3)):,.10g} ({power})"
