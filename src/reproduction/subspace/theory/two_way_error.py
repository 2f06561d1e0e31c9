"""Exact error of l1 noise on a two-way table with both margins fixed, by Fourier transforms.

The weight of a table u of noise is exp(-epsilon ||u||_1). Its Fourier series in angles x_i of the
row totals and y_j of the column totals is prod_ij phi(x_i + y_j). The value at zero totals is the
mean over all angles. The normalising constant is therefore mean_y R(y)^rows with R(y) = mean_x
prod_j phi(x + y_j). The angle of the last column total is 0, because the row totals and the other
column totals imply it.
"""

import math

import numpy as np

MAX_COLUMNS = 4  # maximum length of the smaller side; memory grows exponentially with it
MAX_EXPONENT = 36.0  # maximum total of a table times epsilon; larger totals are neglected
LIMIT_EPSILONS = (0.3, 0.25, 0.2, 0.16)


def lattice_error(shape: tuple[int, int], epsilon: float) -> float:
    """Compute the expected squared error of all cells for integer noise.

    The smaller side of the table has at most `MAX_COLUMNS` cells.
    """
    columns, rows = sorted(shape)
    n = 2 * math.ceil(MAX_EXPONENT / epsilon / 2)
    steps = np.arange(n)
    sizes = np.minimum(steps, n - steps)
    weights = np.exp(-epsilon * sizes)
    phi, phi_of_squares = (np.fft.fft(w).real for w in (weights, sizes**2 * weights))
    shifted = phi[np.add.outer(steps, steps) % n]  # phi(x + y)

    def row_factor(last_column: np.ndarray) -> np.ndarray:
        product = last_column[:, None]
        for _ in range(columns - 2):
            product = (product[:, :, None] * shifted[:, None, :]).reshape(n, -1)
        return product.T @ shifted

    factor = row_factor(phi)
    squares = np.vdot(factor ** (rows - 1), row_factor(phi_of_squares))
    return float(rows * columns * squares / (factor**rows).sum())


def continuous_error(shape: tuple[int, int]) -> float:
    """Compute the expected squared error of continuous noise at epsilon 1.

    It is the limit of epsilon^2 times the error of integer noise, by extrapolation in epsilon^2.
    Its relative error is about 2e-6.
    """
    scaled = [epsilon**2 * lattice_error(shape, epsilon) for epsilon in LIMIT_EPSILONS]
    degree = len(scaled) - 1
    return float(np.polynomial.Polynomial.fit(np.square(LIMIT_EPSILONS), scaled, degree)(0.0))
