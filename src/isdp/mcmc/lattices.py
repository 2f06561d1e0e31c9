"""How coarse a lattice a smooth law may be drawn on: remainders that are uniform, up to a bound.

Let x_1, ..., x_K be independent integers given their sum, and h a step. If the Fourier transforms
of their laws are negligible from about 1 / h on, then by Poisson's summation formula the remainders
of all but one of them modulo h are uniform and independent, whatever the sum is. They can be drawn
first, and what is left are laws on every h-th integer.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

LOST = 1e-13  # total variation between remainders and uniform ones that a step may cost
LEAST_WEIGHT = 1e-20  # of the largest, that counts in a transform


def lattice_step(log_law: np.ndarray, places: int, columns: int) -> int:
    """Find the longest step h at which the remainders of columns are uniform.

    A column whose places, of one law q each, are equal but for their signs has the law q^places.
    With p its transform, a remainder that is off by one frequency 2 pi / h weighs at most the
    largest p(2 pi / h - t) p(t)^(columns - 1) over t. There are two such frequencies a column;
    those of more frequencies or more columns are smaller by as much again. Columns of other sums,
    or with places of more cells, are smoother: their transforms are tried in the tests.

    Parameters
    ----------
    log_law : float64 array, shape (reach + 1,)
        Of the sum of a place, from 0 on; it is even.
    places : int
        Of a column.
    columns : int
        K, whose sum is given.

    Returns
    -------
    int
        At least 1, which is all integers.
    """
    law = np.exp(places * (log_law - log_law[0]))
    law = law[law > LEAST_WEIGHT]
    n = 2 ** math.ceil(math.log2(8 * len(law)))
    around = np.zeros(n)
    around[: len(law)] = law
    around[n - len(law) + 1 :] = law[:0:-1]
    transform = np.abs(scipy.fft.rfft(around)) / around.sum()
    above = np.maximum.accumulate(transform[::-1])[::-1]  # the largest at this frequency or above

    def lost(step: int) -> float:
        near = np.arange(n // (2 * step) + 1)
        far = np.floor(n / step - near).astype(int)
        return 2 * columns * float((above[far] * above[near] ** (columns - 1)).max())

    step = 1
    while 2 * (step + 1) < len(law) and lost(step + 1) <= LOST:
        step += 1
    return step
