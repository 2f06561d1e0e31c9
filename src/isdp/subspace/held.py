"""Ways to say what is held: rational rows, several invariants at once, consistency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.sparse import vstack

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.subspace.elimination import integer_kernel
from isdp.subspace.queries import Query

LARGEST_DENOMINATOR = 10**9


def rational(rows: Sequence[Sequence], names: Sequence[str] | None = None) -> Invariants:
    """Hold rows of fractions, by scaling each to coprime integers: its null space is the same.

    Parameters
    ----------
    rows : sequence of sequences
        Entries are integers, `Fraction`, text such as ``"1/3"``, or floats that stand for the
        shortest decimal number that denotes them (0.1 is one tenth).

    Raises
    ------
    InputError
        If an entry is no number, or is a float with more than nine decimals: such a float is
        most likely a rounded fraction, whose null space is another one.

    Examples
    --------
    >>> rational([["1/2", "1/3", 0], [0.1, 0, 0.2]]).matrix
    array([[3, 2, 0],
           [1, 0, 2]])
    """
    exact = [[_fraction(entry, row) for entry in entries] for row, entries in enumerate(rows)]
    if not exact or len({len(entries) for entries in exact}) != 1:
        raise InputError("subspace: rational invariants need at least one row, all of one length")
    return Invariants([_coprime(entries) for entries in exact], names)


def together(*invariants: Invariants) -> Invariants:
    """Hold several invariants at once; all of them on the same cells.

    Raises
    ------
    InputError
        If they are on different numbers of cells.
    """
    if len({held.cells for held in invariants}) != 1:
        raise InputError("subspace: only invariants on the same cells can be held together")
    names = [name for held in invariants for name in held.names]
    return Invariants(vstack([held.sparse for held in invariants], format="csr"), names)


def consistency(query: Query) -> Invariants:
    """Find what the answers of all data sets meet anyway, with the value 0.

    These are the integer vectors c with c A = 0, such as a parent less its children. Held as
    invariants they cost no privacy, as they say nothing of the data, and lower the error.

    Raises
    ------
    InputError
        If there are none, as the answers are linearly independent.
    """
    kernel = integer_kernel(query.sparse.T.tocsr())
    if not len(kernel):
        raise InputError("subspace: the answers are linearly independent, nothing ties them")
    return Invariants(kernel, [f"consistency {row}" for row in range(len(kernel))])


def _fraction(entry, row: int) -> Fraction:
    try:
        exact = Fraction(repr(float(entry)) if isinstance(entry, float | np.floating) else entry)
    except (TypeError, ValueError):
        raise InputError(f"subspace: entry {entry!r} in row {row} is no fraction") from None
    if isinstance(entry, float | np.floating) and exact.denominator > LARGEST_DENOMINATOR:
        raise InputError(
            f"subspace: entry {entry!r} in row {row} looks like a rounded fraction; give it as a "
            f'Fraction or as text such as "1/3"'
        )
    return exact


def _coprime(entries: Sequence[Fraction]) -> list[int]:
    scale = math.lcm(*(entry.denominator for entry in entries))
    whole = [int(entry * scale) for entry in entries]
    divisor = math.gcd(*whole) or 1
    return [entry // divisor for entry in whole]
