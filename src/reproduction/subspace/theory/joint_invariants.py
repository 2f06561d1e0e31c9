"""Combination of invariants, and the consistency of a query's answers as invariants."""

from __future__ import annotations

from scipy.sparse import vstack

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.elimination import integer_kernel
from isdp.subspace.queries import Query


def together(*invariants: Invariants) -> Invariants:
    """Combine several invariants on the same cells.

    Raises InputError if they have different numbers of cells.
    """
    if len({held.cells for held in invariants}) != 1:
        raise InputError("subspace: invariants: all must have the same number of cells")
    names = [name for held in invariants for name in held.names]
    return Invariants(vstack([held.sparse for held in invariants], format="csr"), names)


def consistency(query: Query) -> Invariants:
    """Find the linear relations with value 0 that the answers of all datasets satisfy.

    They are the integer vectors c with c A = 0, such as a parent minus its children. As invariants
    they lower the error without a loss of privacy, because they do not depend on the data. Raises
    InputError if there are none, that is, if the answers are linearly independent.
    """
    kernel = integer_kernel(query.sparse.T.tocsr())
    if not len(kernel):
        raise InputError(
            "subspace: query: its answers are linearly independent, without consistency relations"
        )
    return Invariants(kernel, [f"consistency {row}" for row in range(len(kernel))])
