"""Linear queries: integer combinations of the counts of a histogram."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array

from isdp.arrays import IntArray
from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError


@dataclass(frozen=True)
class Query:
    """A linear query A, with the answers A hist(x) for a data set x.

    The notation is that of *Subspace Differential Privacy*, Section 2. A record type is a value
    that a record can have. The histogram hist(x) has the number of records of each type. Use one of
    the constructors, such as `linear` for a matrix.

    Parameters
    ----------
    rows : Invariants
        Integer matrix with a row for each answer and a column for each record type.
    """

    rows: Invariants

    def __post_init__(self) -> None:
        if not isinstance(self.rows, Invariants):
            raise InputError(
                f"subspace: a query needs Invariants, got {type(self.rows).__name__}. For a "
                f"matrix, use Query.linear."
            )

    @classmethod
    def linear(cls, matrix: ArrayLike | csr_array, names: Sequence[str] | None = None) -> Query:
        """Build a query from an integer matrix, dense or sparse, of shape (answers, types).

        The errors are those of `Invariants`.
        """
        names = [f"answer {row}" for row in range(np.shape(matrix)[0])] if names is None else names
        return cls(Invariants(matrix, names))

    @classmethod
    def histogram(cls, types: int) -> Query:
        """Build the query that counts the records of each type."""
        types = check_integer("subspace", "the number of types", types, 1)
        return cls.linear(eye_array(types, dtype=np.int64, format="csr"))

    @classmethod
    def ranges(cls, types: int) -> Query:
        """Build the query that counts the records of every range of consecutive types.

        Examples
        --------
        >>> Query.ranges(2).matrix
        array([[1, 0],
               [1, 1],
               [0, 1]])
        """
        types = check_integer("subspace", "the number of types", types, 1)
        first, last = np.triu_indices(types)
        names = [f"{a} to {b}" for a, b in zip(first, last, strict=True)]
        return cls.linear(_runs(first, last, types), names)

    @classmethod
    def prefixes(cls, types: int) -> Query:
        """Build the query that counts the records of the first k types, for each k."""
        types = check_integer("subspace", "the number of types", types, 1)
        names = [f"up to {last}" for last in range(types)]
        return cls.linear(_runs(np.zeros(types, dtype=int), np.arange(types), types), names)

    @classmethod
    def margins(cls, shape: Sequence[int], kept: Iterable[Sequence[int]]) -> Query:
        """Build the query that counts the records of each cell of some margins.

        The axes of each margin are given by `kept`. The record types are the cells of the table in
        row-major order. The errors are those of
        `Invariants.margins`.
        """
        return cls(Invariants.margins(shape, kept))

    @classmethod
    def hierarchy(cls, branching: Sequence[int]) -> Query:
        """Build the query that counts the records below every node of a tree, level by level.

        Parameters
        ----------
        branching : sequence of int
            Number of children of each node at each level. The tree ``(4, 4)`` has a root, 4 nodes
            and 16 leaves. The leaves are the record types.
        """
        branching = [check_integer("subspace", "the children of a node", n, 1) for n in branching]
        leaves = math.prod(branching)
        levels = [
            np.repeat(np.arange(nodes), leaves // nodes)
            for nodes in accumulate(branching, mul, initial=1)
        ]
        rows = [np.flatnonzero(level == node) for level in levels for node in range(level[-1] + 1)]
        names = [
            f"level {k} node {j}" for k, level in enumerate(levels) for j in range(level[-1] + 1)
        ]
        return cls(Invariants.subsets(rows, leaves, names))

    @property
    def sparse(self) -> csr_array:
        """The matrix A as a read-only int64 CSR array, shape (answers, types)."""
        return self.rows.sparse

    @property
    def matrix(self) -> IntArray:
        """The matrix A as a dense int64 array, shape (answers, types)."""
        return self.rows.matrix

    @property
    def answers(self) -> int:
        """Number of answers n."""
        return self.rows.constraints

    @property
    def types(self) -> int:
        """Number of record types d."""
        return self.rows.cells

    @property
    def is_histogram(self) -> bool:
        """True if answer i is the number of records of type i, for all i."""
        a = self.sparse
        return a.shape[0] == a.shape[1] == a.nnz and bool(
            (a.data == 1).all() and (a.indices == np.arange(a.nnz)).all()
        )

    def apply(self, histogram: ArrayLike) -> IntArray:
        """Compute the exact answers for histograms of shape (..., types), as int64 (..., answers).

        The errors are those of `Invariants.apply`.
        """
        return self.rows.apply(histogram)


def _runs(first: IntArray, last: IntArray, types: int) -> csr_array:
    """Build the matrix whose row i has ones from first[i] to last[i], and zeros elsewhere."""
    lengths = last - first + 1
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    indices = np.repeat(first, lengths) + within
    return csr_array((np.ones(indptr[-1], np.int64), indices, indptr), shape=(len(first), types))
