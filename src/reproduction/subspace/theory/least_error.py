"""Least error of any mechanism with outputs in a finite set, by linear programs (SDP, 3.4).

SDP is *Subspace Differential Privacy*.
"""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, kron, vstack

from isdp.errors import InputError
from reproduction.subspace.theory.finite_mechanisms import FiniteSpace


def least_error(
    errors: np.ndarray, groups: np.ndarray, pairs: np.ndarray, ratio: float, delta: float
) -> float:
    """Compute the smallest possible error of the worst dataset under differential privacy.

    Parameters
    ----------
    errors : float array, shape (dataset, output)
        Squared error of each output, or infinity for an output that a dataset must not have.
    groups : int array, shape (output,)
        Number of the part of each output that is protected.
    pairs : int array, shape (pair, 2)
        Pairs of neighbouring datasets. The condition on the probabilities of the groups is
        sum max(p - ratio q, 0) <= delta.

    Raises InputError if HiGHS finds no optimum.
    """
    datasets, outputs = errors.shape
    n_groups = int(groups.max()) + 1
    allowed = np.isfinite(errors)
    costs = np.where(allowed, errors, 0.0)
    member = csr_array((np.ones(outputs), (groups, np.arange(outputs))))
    ends = [np.eye(datasets)[pairs[:, k]] for k in (0, 1)]
    # variables: probabilities, then the excess of each pair and group, then the largest error
    slacks = len(pairs) * n_groups
    excess = hstack(
        [
            kron(csr_array(ends[0] - ratio * ends[1]), member),
            -csr_array(np.eye(slacks)),
            csr_array((slacks, 1)),
        ]
    )
    sums = hstack(
        [
            csr_array((len(pairs), costs.size)),
            kron(csr_array(np.eye(len(pairs))), np.ones((1, n_groups))),
            csr_array((len(pairs), 1)),
        ]
    )
    by_dataset = [kron(np.eye(datasets)[[k]], costs[[k]]) for k in range(datasets)]
    worst = hstack(
        [vstack(by_dataset), csr_array((datasets, slacks)), csr_array(-np.ones((datasets, 1)))]
    )
    one = hstack([kron(np.eye(datasets), np.ones((1, outputs))), csr_array((datasets, slacks + 1))])
    upper = np.concatenate([allowed.ravel().astype(float), np.full(slacks + 1, np.inf)])
    found = linprog(
        np.append(np.zeros(costs.size + slacks), 1.0),
        A_ub=vstack([excess, sums, worst]),
        b_ub=np.concatenate([np.zeros(slacks), np.full(len(pairs), delta), np.zeros(datasets)]),
        A_eq=one,
        b_eq=np.ones(datasets),
        bounds=np.column_stack([np.zeros_like(upper), upper]),
    )
    if found.status != 0:
        raise InputError(f"least error: HiGHS found no optimum ({found.message.strip()}).")
    return float(found.fun)


def least_errors_of_both(space: FiniteSpace, ratio: float, delta: float) -> tuple[float, float]:
    """Compute both sides of Corollary 3.10 for outputs on a grid.

    The first result is for mechanisms that keep the invariants and protect the null space, with the
    query A. The second result is for differentially private mechanisms with the query Pi_N A. The
    outputs of the second have Pi_N y for y in the grid. Those of the first are these vectors plus
    Pi_R A(x) for any dataset x.
    """
    inside = np.unique(space.grid @ space.null, axis=0)
    shifts = np.unique(space.answers @ space.row, axis=0)
    outputs = np.unique((inside[:, None] + shifts).reshape(-1, inside.shape[1]), axis=0)
    c = space.invariants.matrix
    kept = ((outputs @ c.T) == space.unit * (space.answers @ c.T)[:, None]).all(axis=-1)
    groups = np.unique(outputs @ space.null, axis=0, return_inverse=True)[1].ravel()

    def squares(points: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return np.square((points - targets[:, None]) / space.unit).sum(axis=-1)

    induced = np.where(kept, squares(outputs, space.unit * space.answers), np.inf)
    plain = squares(inside, space.answers @ space.null)
    return (
        least_error(induced, groups, space.pairs, ratio, delta),
        least_error(plain, np.arange(len(inside)), space.pairs, ratio, delta),
    )
