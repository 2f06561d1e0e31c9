"""The content of the certificate of swapped records.

The content is computed from the settings, the published totals and the swapped records. No entry
depends on the permutation in another way.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from isdp.accounting.guarantees import upper_decimal
from isdp.arrays import IntArray
from isdp.commands.disclosure.protection import ProtectionFacts, protection_sentences
from isdp.commands.shared.opening import opening
from isdp.commands.swap.records import Records, Roles
from isdp.io.certificate import FORMAT
from isdp.io.versions import versions
from isdp.io.wording import capitalized, counted, listed
from isdp.streams import stream
from isdp.swapping.mechanism.permutation import Strata, draw_permutation
from isdp.swapping.privacy.bound import ROUNDING, Rate, guarantee_of, min_epsilon
from isdp.swapping.privacy.record_pairs import moved_probability
from isdp.swapping.privacy.worst_case import worst_case_loss

MAX_LISTED = 10
SIMULATIONS = 19  # a further error is at most the largest of 19 with a probability of 95 %
NOT_SAID = (
    "The guarantee compares datasets that agree on all listed totals. These totals are published "
    "exactly, and no guarantee covers what they reveal.",
    "The nearest two datasets with equal totals differ in two records. Between them the odds can "
    "change by the factor e^(2 epsilon).",
    "The guarantee holds for one swap of these records. Every further swap adds its epsilon, and "
    "the sum holds only for datasets that agree on the totals of all swaps.",
    "The swap rate is public. It allows a reader to remove the bias of the swap from any table of "
    "these records, without loss of privacy.",
    "The unit is a record. If a record is a household, or a person has several records, the loss "
    "per person is another number.",
    "Nothing that depends on the permutation drawn is given here, such as the share of records "
    "that moved, because it would void the guarantee together with the records.",
    "Swaps of weighted records, within several levels of a hierarchy, or of records selected by "
    "their risk are outside the theorem.",
)


def describe(
    name: str,
    records: Records,
    swapped: Records,
    roles: Roles,
    rate: Fraction,
    key: IntArray,
    value: IntArray,
    checks: list[dict[str, object]],
    started: str,
) -> dict[str, Any]:
    """Return the certificate for JSON.

    Parameters
    ----------
    name : str
        File name of the records, without its folder.
    records, swapped : Records
        The confidential and the released records.
    key, value : int64 arrays, shape (records,)
        The index of each record's combination of values, in the swap key and in the columns that
        move.
    """
    sizes = np.bincount(key)
    swap, privacy = _swap(rate, key, value, sizes), _privacy(rate, int(sizes.max()))
    return {
        "made_by": "isdp swap",
        "format": FORMAT,
        "for_release": True,
        "status": "swapped in exact arithmetic from the operating system's randomness",
        "date": started,
        "summary": _summary(
            roles,
            checks,
            _errors(swapped, roles, rate, f"{swap['expected_share_changed']:.1%}"),
            privacy,
        ),
        "protection": protection_sentences(
            guarantee_of(Rate(float(rate / (1 - rate))), int(sizes.max())),
            ProtectionFacts(f"all values, also the {listed(roles.moving)},", size_held=True),
        ),
        "input": {
            "records": len(records),
            "file": name,
            "match": list(roles.match),
            "swap": list(roles.swap),
            "carry": list(roles.carry),
            "public": list(roles.public),
            "published_as_they_are": list(roles.held(records.columns)),
        },
        "output": {"file": "", "order": "by their own columns", "sha256": ""},
        "totals": checks,
        "strata": _strata(records, roles, key, value, sizes),
        "swap": swap,
        "privacy": privacy,
        "versions": versions("numpy"),
        "not_said": list(NOT_SAID),
    }


def _summary(
    roles: Roles,
    checks: list[dict[str, Any]],
    errors: str,
    privacy: dict[str, object],
) -> dict[str, str]:
    moving, among = listed(roles.moving), "records"
    totals = [
        f"the {counted(check['totals'], 'count')} of records by {listed(check['columns'])}"
        for check in checks
        if check["columns"]
    ]
    if roles.match:
        among = f"records with equal {listed(roles.match)}"
    return opening(
        f"{capitalized(listed(totals))} are exact.",
        errors,
        f"The {moving} of each record is protected among {among}: between the two nearest sets of "
        f"records, a reader's odds change at most by a factor of {privacy['odds_move_by_at_most']}."
        f" The exact counts, and all columns that are not swapped or carried, are not protected.",
    )


def _errors(swapped: Records, roles: Roles, rate: Fraction, changed: str) -> str:
    """Say which counts have an error, and how large it is if the released records are swapped.

    A further swap fits into the largest of 19 errors with a probability of 95 %.
    """
    moving = listed(roles.moving)
    text = f"The expected share of records that have another {moving} than before is {changed}."
    own = [name for name in roles.held(swapped.columns) if name not in roles.match]
    if not own:
        return f"{text} No count has an error, because every column is in the swap key or moves."
    text += (
        f" Counts that combine {moving} with {listed(own)} have an error, and all other counts are "
        f"exact."
    )
    shown = [name for name in own if name not in roles.public]
    if not shown:
        return text
    rng, strata = stream(0, "swap margins"), Strata.from_labels(swapped.groups(roles.match))
    value = swapped.groups(roles.swap)
    values = int(value.max()) + 1
    others = [values * swapped.groups([name]) for name in shown]
    before = [np.bincount(o + value, minlength=int(o.max()) + values) for o in others]
    largest = [np.zeros_like(counts) for counts in before]
    for _ in range(SIMULATIONS):
        moved = value[draw_permutation(rng, strata, float(rate))]
        for other, counts, errors in zip(others, before, largest, strict=True):
            after = np.bincount(other + moved, minlength=len(counts))
            np.maximum(errors, abs(after - counts), out=errors)
    limits = np.concatenate(largest)
    return (
        f"{text} With a probability of 95 %, the error of a count of records by "
        f"{listed(roles.swap)} and one of these columns is within "
        f"{counted(int(np.median(limits)), 'record')} for half of the counts, and within "
        f"{int(limits.max()):,} for all. These limits come from {SIMULATIONS} swaps of the "
        f"released records, and the probability is approximate."
    )


def _strata(
    records: Records, roles: Roles, key: IntArray, value: IntArray, sizes: IntArray
) -> dict[str, object]:
    pairs = np.unique(key * (value.max() + 1) + value) // (value.max() + 1)
    fixed = np.flatnonzero(np.bincount(pairs, minlength=len(sizes)) == 1)
    firsts = np.unique(key, return_index=True)[1]
    names = [
        ", ".join(records.columns[c].text(firsts[s]) for c in roles.match)
        for s in fixed[:MAX_LISTED]
    ]
    return {
        "number": len(sizes),
        "largest": int(sizes.max()),
        "of_one_record": int((sizes == 1).sum()),
        "where_nothing_can_change": len(fixed),
        "records_that_cannot_change": int(sizes[fixed].sum()),
        "listed": names,
    }


def _swap(rate: Fraction, key: IntArray, value: IntArray, sizes: IntArray) -> dict[str, object]:
    different, count = np.unique(sizes, return_counts=True)
    share = {int(n): moved_probability(int(n), float(rate)) for n in different}
    moved = sum(share[int(n)] * int(n) * int(c) for n, c in zip(different, count, strict=True))
    cells, inside = np.unique(key * (value.max() + 1) + value, return_counts=True)
    stratum = cells // (value.max() + 1)
    # a record that moves takes the value of another record in its stratum, drawn uniformly
    n = np.maximum(sizes, 2).astype(float)
    same = np.bincount(stratum, weights=inside * (inside - 1.0)) / (n - 1)
    by_stratum = np.array([share[int(size)] for size in sizes])
    changed = (by_stratum * (sizes - same)).sum()
    return {
        "rate": str(rate),
        "rate_decimal": float(rate),
        "rate_is_public": True,
        "expected_share_moved": round(moved / len(key), 6),
        "expected_share_changed": round(float(changed) / len(key), 6),
    }


def _privacy(rate: Fraction, largest: int) -> dict[str, object]:
    odds = Rate(float(rate / (1 - rate)))
    exact = worst_case_loss(odds, largest)
    bound, smallest = guarantee_of(odds, largest), min_epsilon(largest)[0]
    return bound.record() | {
        "epsilon_bound": upper_decimal(bound.loss),
        "epsilon_exact_worst_case": upper_decimal(exact + ROUNDING * (1 + exact)),
        "epsilon_between_nearest": upper_decimal(2 * bound.loss),
        "smallest_attainable_bound": upper_decimal(smallest + ROUNDING * (1 + smallest)),
        "largest_stratum": largest,
        "odds_move_by_at_most": f"e^{upper_decimal(2 * bound.loss)}",
    }
