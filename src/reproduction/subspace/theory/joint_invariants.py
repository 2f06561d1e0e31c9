"""Combination of invariants, and consistency relations of a query as invariants."""

from scipy.sparse import vstack

from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.lattice.elimination import integer_kernel
from isdp.subspace.queries import Query


def together(*invariants: Invariants) -> Invariants:
    """Combine several invariants on the same cells."""
    names = [name for held in invariants for name in held.names]
    return Invariants(vstack([held.sparse for held in invariants], format="csr"), names)


def consistency(query: Query) -> Invariants:
    """Find the linear relations with value 0 that the answers of all datasets satisfy.

    The relations are the integer vectors c with c A = 0, such as a parent minus its children. They
    do not depend on the data. If they are invariants, the error is smaller and the privacy loss is
    the same. Raises InputError if the answers are linearly independent, so that there are no
    relations.
    """
    kernel = integer_kernel(query.sparse.T.tocsr())
    if not len(kernel):
        raise InputError(
            "subspace: query: the answers are linearly independent and have no consistency "
            "relations. Use the total as the only invariant."
        )
    return Invariants(kernel, [f"consistency {row}" for row in range(len(kernel))])
