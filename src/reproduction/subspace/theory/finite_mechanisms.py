"""Mechanisms with finitely many outputs, in integer arithmetic (SDP, Sections 2 to 4).

The projection onto the null space of invariants is a rational matrix. Projected vectors are
integers in units of 1 / D, where D is the common denominator of the matrix. Probabilities are
integer weights. They are in units of 1 / W, where W is the sum of the weights of each dataset.

SDP is *Subspace Differential Privacy*.
"""

from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np
from flint import fmpq_mat
from scipy.sparse import csr_array

from isdp.constraints.invariants import Invariants
from isdp.lattice.elimination import independent_rows
from isdp.subspace import Query

WEIGHT = 1_000_000  # sum of the weights of one dataset
GRID = (0, 1, 2)  # values of each answer in a drawn mechanism
NOISE = (-1, 0, 1)  # values of each coordinate of drawn noise


def project_onto_rows(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Compute the projection onto the row space of an integer matrix as integers / denominator."""
    rows = matrix[independent_rows(csr_array(matrix))]
    b = fmpq_mat(*rows.shape, rows.ravel().tolist())
    numerators, denominator = (b.transpose() * (b * b.transpose()).inv() * b).numer_denom()
    return np.array([[int(x) for x in row] for row in numerators.tolist()]), int(denominator)


class FiniteMechanism(NamedTuple):
    """Outputs and their weights for each dataset.

    `outputs` is int64 of shape (dataset, output, answer), and `weights` of (dataset, output).
    """

    outputs: np.ndarray
    weights: np.ndarray

    def multiply(self, matrix: np.ndarray) -> "FiniteMechanism":
        """Multiply each output by a matrix of shape (..., answer)."""
        return self._replace(outputs=self.outputs @ matrix.T)

    def delta(self, pairs: np.ndarray, ratio: Fraction) -> Fraction:
        """Compute the smallest delta with P(S) <= ratio Q(S) + delta for all events S.

        P and Q are the distributions of the outputs of each pair of datasets in `pairs`, of shape
        (pair, 2). The result is the largest delta of the pairs.
        """
        flat = self.outputs.reshape(-1, self.outputs.shape[-1])
        outputs, place = np.unique(flat, axis=0, return_inverse=True)
        table = np.zeros((len(self.outputs), len(outputs)), dtype=np.int64)
        dataset = np.repeat(np.arange(len(table)), self.outputs.shape[1])
        np.add.at(table, (dataset, place.ravel()), self.weights.ravel())
        p, q = table[pairs[:, 0]], table[pairs[:, 1]]
        excess = np.maximum(ratio.denominator * p - ratio.numerator * q, 0).sum(axis=1)
        return Fraction(int(excess.max()), ratio.denominator * int(self.weights[0].sum()))

    def mean(self) -> np.ndarray:
        """Compute the mean output of each dataset times the sum of the weights."""
        return (self.weights[:, :, None] * self.outputs).sum(axis=1)


class FiniteSetting(NamedTuple):
    """A query of all datasets of `records` records, with invariants of its answers."""

    name: str
    query: Query
    invariants: Invariants
    records: int = 2


class FiniteSpace:
    """The datasets, the answers and the projections of a setting.

    Attributes
    ----------
    null, row : int64 array, shape (answer, answer)
        The projections onto the null space and onto the row space of the invariants, times `unit`.
    unit : int
        The common denominator D.
    answers : int64 array, shape (dataset, answer)
        The answers of all datasets.
    pairs : int64 array, shape (pair, 2)
        The numbers of all pairs of datasets that differ in one record, in both orders.
    """

    def __init__(self, setting: FiniteSetting):
        self.name, self.query, self.invariants, records = setting
        self.row, self.unit = project_onto_rows(self.invariants.matrix)
        self.null = self.unit * np.eye(len(self.row), dtype=np.int64) - self.row
        types = range(self.query.types)
        datasets = combinations_with_replacement(types, records)
        histograms = np.array([np.bincount(x, minlength=len(types)) for x in datasets])
        self.answers = histograms @ self.query.matrix.T
        moved = np.abs(histograms[:, None] - histograms).sum(axis=-1)
        self.pairs = np.argwhere(moved == 2)

    @cached_property
    def grid(self) -> np.ndarray:
        """The possible outputs of a drawn mechanism, of shape (output, answer)."""
        return np.array(list(product(GRID, repeat=self.query.answers)))

    @cached_property
    def noise(self) -> np.ndarray:
        """The possible values of drawn noise, of shape (value, answer). The set is symmetric."""
        return np.array(list(product(NOISE, repeat=self.query.answers)))

    def draw_weights(self, rng: np.random.Generator, outputs: int) -> np.ndarray:
        """Draw random weights of the outputs for each dataset."""
        shares = rng.dirichlet(np.ones(outputs), len(self.answers))
        return rng.multinomial(WEIGHT, shares)

    def draw_mechanism(self, rng: np.random.Generator) -> FiniteMechanism:
        """Draw a mechanism whose outputs are the grid, with other weights for each dataset."""
        outputs = np.broadcast_to(self.grid, (len(self.answers), *self.grid.shape))
        return FiniteMechanism(outputs, self.draw_weights(rng, len(self.grid)))

    def draw_noise(self, rng: np.random.Generator, symmetric: bool) -> np.ndarray:
        """Draw weights of the noise, which are the same for all datasets."""
        weights = self.draw_weights(rng, len(self.noise))[:1]
        weights = weights + weights[:, ::-1] if symmetric else weights
        return np.broadcast_to(weights, (len(self.answers), len(self.noise)))

    def project(self, mechanism: FiniteMechanism) -> FiniteMechanism:
        """Project a mechanism as in Theorem 3.1: A(x) + Pi_N (M(x) - A(x)), in units of 1 / D."""
        answers = self.answers[:, None]
        outputs = self.unit * answers + (mechanism.outputs - answers) @ self.null
        return mechanism._replace(outputs=outputs)

    def extend(self, mechanism: FiniteMechanism) -> FiniteMechanism:
        """Extend a mechanism with outputs in the null space as in Theorem 3.3, in units of 1 / D.

        The outputs of the given mechanism are in units of 1 / D.
        """
        return mechanism._replace(outputs=mechanism.outputs + (self.answers @ self.row)[:, None])

    def keeps_invariants(self, mechanism: FiniteMechanism) -> np.ndarray:
        """Return True for each output, in units of 1 / D, that has the exact invariants."""
        c = self.invariants.matrix
        wanted = self.unit * (self.answers @ c.T)[:, None]
        return (mechanism.outputs @ c.T == wanted).all(axis=-1).ravel()
