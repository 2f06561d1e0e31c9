"""Ways to say what is held: several invariants at once, consistency."""

from __future__ import annotations

from scipy.sparse import vstack

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.elimination import integer_kernel
from isdp.subspace.queries import Query


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
