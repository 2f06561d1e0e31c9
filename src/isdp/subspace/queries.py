"""Linear queries: integer combinations of the counts of a histogram."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

import numpy as np
from scipy.sparse import csr_array, eye_array

from isdp.checks import check_integer
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError


@dataclass(frozen=True)
class Query:
    """A linear query A: the answers A hist(x) of a data set x (SDP, Section 2).

    Use one of the constructors, or `linear` for a matrix of your own.

    Parameters
    ----------
    rows : Invariants
        One row for each answer, one column for each type of record; integers.

    Raises
    ------
    InputError
        If the rows are anything else, such as an array.
    """

    rows: Invariants

    def __post_init__(self):
        if not isinstance(self.rows, Invariants):
            raise InputError(
                f"subspace: a query is made of Invariants, got {type(self.rows).__name__}; for a "
                f"matrix there is Query.linear"
            )

    @classmethod
    def linear(cls, matrix, names: Sequence[str] | None = None) -> Query:
        """Take any integer matrix, dense or sparse, of shape (answers, types).

        Raises
        ------
        InputError
            If the matrix has an entry that is no 64-bit integer, no column, or names that do not
            fit.
        """
        names = [f"answer {row}" for row in range(np.shape(matrix)[0])] if names is None else names
        return cls(Invariants(matrix, names))

    @classmethod
    def histogram(cls, types: int) -> Query:
        """Count every type of record by itself."""
        types = check_integer("subspace", "the number of types", types, 1)
        return cls.linear(eye_array(types, dtype=np.int64, format="csr"))

    @classmethod
    def ranges(cls, types: int) -> Query:
        """Count every range of neighbouring types, from `first` to `last`, both included.

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
        """Count the records up to and including each type; the last answer is the total."""
        types = check_integer("subspace", "the number of types", types, 1)
        names = [f"up to {last}" for last in range(types)]
        return cls.linear(_runs(np.zeros(types, dtype=int), np.arange(types), types), names)

    @classmethod
    def margins(cls, shape: Sequence[int], kept: Iterable[Sequence[int]]) -> Query:
        """Count the margins of a table; each is named by the axes that it keeps.

        The types of record are the table's cells in row-major order, as in `Invariants.margins`,
        whose errors are raised.
        """
        return cls(Invariants.margins(shape, kept))

    @classmethod
    def hierarchy(cls, branching: Sequence[int]) -> Query:
        """Count every node of a tree, level by level from the root; the types are its leaves.

        Parameters
        ----------
        branching : sequence of int
            Children of a node at each level: ``(4, 4)`` has a root, 4 nodes and 16 leaves.
        """
        branching = [
            check_integer("subspace", "the children of a node", children, 1)
            for children in branching
        ]
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
    def matrix(self) -> np.ndarray:
        """The matrix A as a dense int64 array, shape (answers, types)."""
        return self.rows.matrix

    @property
    def answers(self) -> int:
        """Number of answers n."""
        return self.rows.constraints

    @property
    def types(self) -> int:
        """Number of types of record d."""
        return self.rows.cells

    @property
    def is_histogram(self) -> bool:
        """Whether every answer is the count of one type, in order."""
        a = self.sparse
        return a.shape[0] == a.shape[1] == a.nnz and bool(
            (a.data == 1).all() and (a.indices == np.arange(a.nnz)).all()
        )

    def apply(self, histogram) -> np.ndarray:
        """Compute the answers exactly.

        Parameters
        ----------
        histogram : int array, shape (..., types)

        Returns
        -------
        int64 array, shape (..., answers)

        Raises
        ------
        InputError
            If the last axis is not the types, the counts are not integers, or an answer could
            leave int64.
        """
        return self.rows.apply(histogram)


def _runs(first: np.ndarray, last: np.ndarray, types: int) -> csr_array:
    """Build the 0/1 matrix whose row i has ones from first[i] to last[i]."""
    lengths = last - first + 1
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    indices = np.repeat(first, lengths) + within
    return csr_array((np.ones(indptr[-1], np.int64), indices, indptr), shape=(len(first), types))
