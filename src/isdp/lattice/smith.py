"""Smith normal form of an integer matrix, with both unimodular transforms.

Proposition 8 of *Integer Subspace Differential Privacy* (ISDP) uses the transforms for a basis of
the kernel lattice. python-flint does not compute these transforms. Rows and columns are
sparse vectors of Python integers, which cannot overflow. The form of a single total takes time
linear in the number of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, sparray

SparseVector = dict[int, int]


@dataclass(frozen=True)
class SmithForm:
    """Smith normal form U A V = D, in which U and V are unimodular and D is diagonal.

    Each divisor divides the next. The properties `U`, `V` and `D` are dense arrays.

    Attributes
    ----------
    divisors : tuple of int
        The positive entries of the diagonal of D. The number of entries is the rank of A.
    u_rows, v_columns : tuple of dict
        Sparse rows of U and sparse columns of V, as maps from index to entry.
    """

    divisors: tuple[int, ...]
    u_rows: tuple[SparseVector, ...]
    v_columns: tuple[SparseVector, ...]

    @property
    def rank(self) -> int:
        """The rank of A."""
        return len(self.divisors)

    @property
    def U(self) -> NDArray[np.object_]:
        """The matrix U of Python integers, shape (constraints, constraints)."""
        return _dense(self.u_rows, len(self.u_rows))

    @property
    def V(self) -> NDArray[np.object_]:
        """The matrix V of Python integers, shape (cells, cells)."""
        return _dense(self.v_columns, len(self.v_columns)).T

    @property
    def D(self) -> NDArray[np.object_]:
        """The matrix D of Python integers, shape (constraints, cells)."""
        diagonal = tuple({i: divisor} for i, divisor in enumerate(self.divisors))
        zeros: tuple[SparseVector, ...] = ({},) * (len(self.u_rows) - self.rank)
        return _dense(diagonal + zeros, len(self.v_columns))

    @property
    def kernel(self) -> tuple[SparseVector, ...]:
        """The last columns of V, which are a basis of the integer vectors u with A u = 0."""
        return self.v_columns[self.rank :]


def smith_normal_form(matrix: ArrayLike | sparray) -> SmithForm:
    """Compute the Smith normal form with its transforms.

    The pivot is the entry of the remaining matrix with the smallest magnitude. Among equal entries,
    the pivot is in the column with the fewest entries. This rule keeps the transforms of 0/1
    matrices sparse. For one total, each kernel vector moves one person between the first cell and
    another. The matrix has shape (constraints, cells).

    Examples
    --------
    >>> form = smith_normal_form([[2, 4, 4]])
    >>> form.divisors, form.kernel
    ((2,), ({1: 1, 0: -2}, {2: 1, 0: -2}))
    """
    a = csc_array(matrix)
    m, n = a.shape
    columns: list[SparseVector] = [
        {
            int(i): int(x)
            for i, x in zip(
                a.indices[a.indptr[j] : a.indptr[j + 1]],
                a.data[a.indptr[j] : a.indptr[j + 1]],
                strict=True,
            )
            if x
        }
        for j in range(n)
    ]
    u_rows: list[SparseVector] = [{i: 1} for i in range(m)]
    v_columns: list[SparseVector] = [{j: 1} for j in range(n)]
    pivot_rows: list[int] = []
    divisors: list[int] = []
    for k in range(min(m, n)):
        pivot = _find_pivot(columns, k)
        if pivot is None:
            break
        row, column = pivot
        _swap(columns, v_columns, k, column)
        row = _clear(columns, u_rows, v_columns, k, row)
        divisor = columns[k][row]
        if divisor < 0:
            v_columns[k] = {i: -x for i, x in v_columns[k].items()}
        divisors.append(abs(divisor))
        pivot_rows.append(row)
    others = [i for i in range(m) if i not in set(pivot_rows)]
    u_rows = [u_rows[i] for i in (*pivot_rows, *others)]
    _make_divisible(divisors, u_rows, v_columns)
    return SmithForm(tuple(divisors), tuple(u_rows), tuple(v_columns))


def _find_pivot(columns: list[SparseVector], k: int) -> tuple[int, int] | None:
    best = None
    for j in range(k, len(columns)):
        for i, x in columns[j].items():
            key = (abs(x), len(columns[j]), j, i)
            if best is None or key < best:
                best = key
        if best is not None and best[:2] == (1, 1):
            break
    return None if best is None else (best[3], best[2])


def _swap(columns: list[SparseVector], v_columns: list[SparseVector], k: int, j: int) -> None:
    columns[k], columns[j] = columns[j], columns[k]
    v_columns[k], v_columns[j] = v_columns[j], v_columns[k]


def _clear(
    columns: list[SparseVector],
    u_rows: list[SparseVector],
    v_columns: list[SparseVector],
    k: int,
    row: int,
) -> int:
    """Eliminate the pivot's row and column by Euclid's algorithm, and return the pivot's row."""
    while True:
        pivot = columns[k][row]
        for j in range(k + 1, len(columns)):
            entry = columns[j].get(row, 0)
            if not entry:
                continue
            quotient = _nearest(entry, pivot)
            _subtract(columns[j], columns[k], quotient)
            _subtract(v_columns[j], v_columns[k], quotient)
            if row in columns[j]:  # the remainder is smaller than the pivot and replaces it
                _swap(columns, v_columns, k, j)
                break
        else:
            rest = _clear_column(columns[k], u_rows, row)
            if rest is None:
                return row
            row = rest


def _clear_column(column: SparseVector, u_rows: list[SparseVector], row: int) -> int | None:
    """Eliminate a column by row operations, which do not change other columns.

    Return the row of a remainder, which becomes the pivot, or None if there is no remainder.
    """
    pivot = column[row]
    for i in [i for i in column if i != row]:
        quotient = _nearest(column[i], pivot)
        _subtract(u_rows[i], u_rows[row], quotient)
        column[i] -= quotient * pivot
        if column[i]:
            return i
        del column[i]
    return None


def _nearest(entry: int, pivot: int) -> int:
    """Return the quotient with the smallest remainder, which keeps the transforms small."""
    return (2 * entry + abs(pivot)) // (2 * abs(pivot)) * (1 if pivot > 0 else -1)


def _subtract(target: SparseVector, source: SparseVector, factor: int) -> None:
    if not factor:
        return
    for i, x in source.items():
        rest = target.get(i, 0) - factor * x
        if rest:
            target[i] = rest
        else:
            target.pop(i, None)


def _make_divisible(
    divisors: list[int], u_rows: list[SparseVector], v_columns: list[SparseVector]
) -> None:
    for i in range(len(divisors)):
        for j in range(i + 1, len(divisors)):
            a, b = divisors[i], divisors[j]
            if b % a == 0:
                continue
            g, x, y = _extended_gcd(a, b)
            u_rows[i], u_rows[j] = (
                _combine(u_rows[i], x, u_rows[j], y),
                _combine(u_rows[i], -(b // g), u_rows[j], a // g),
            )
            v_columns[i], v_columns[j] = (
                _combine(v_columns[i], 1, v_columns[j], 1),
                _combine(v_columns[i], -y * (b // g), v_columns[j], x * (a // g)),
            )
            divisors[i], divisors[j] = g, a * b // g


def _extended_gcd(a: int, b: int) -> tuple[int, int, int]:
    """Return g, x and y with g = gcd(a, b) = x a + y b, for positive a and b."""
    g = gcd(a, b)
    x = pow(a // g, -1, b // g) if b != g else 0
    return g, x, (g - x * a) // b


def _combine(v: SparseVector, alpha: int, w: SparseVector, beta: int) -> SparseVector:
    result: SparseVector = {}
    _subtract(result, v, -alpha)
    _subtract(result, w, -beta)
    return result


def _dense(vectors: Sequence[SparseVector], length: int) -> NDArray[np.object_]:
    array = np.zeros((len(vectors), length), dtype=object)
    for position, vector in enumerate(vectors):
        for i, x in vector.items():
            array[position, i] = x
    return array
