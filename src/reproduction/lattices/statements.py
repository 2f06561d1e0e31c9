"""Check the statements of ISDP on small lattices by exact computation.

ISDP is *Integer Subspace Differential Privacy*. Each function returns rows of the table
`lattice_statements`. A row either compares a value with the bound that a statement gives for it, or
counts the cases in which an equality fails. The lattices are enumerated, so that probabilities have
rounding errors only. Evidence on a finite number of settings is no proof.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd
import scipy

from isdp.accounting.distances import hamming_of_tables, steps_between
from isdp.constraints.invariants import Invariants
from isdp.exact.selection import select_sampler
from isdp.lattice.null_lattice import kernel_lattice
from isdp.lattice.smith import smith_normal_form
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import (
    NORMS,
    GeneralizedLaplace,
    double_geometric_pmf,
)
from reproduction.jobs.statements import Row, build_table, compare, count_failures
from reproduction.lattices.enumerated import (
    EPSILONS,
    GAUSSIAN,
    GRID,
    L2_LAPLACE,
    LAPLACE,
    OTHERS,
    PAPER,
    SIGMAS,
    SMALL,
    list_outputs,
    list_points,
    probability,
)
from reproduction.lattices.privacy_statements import check_privacy

RELATIVE_ERROR = 1e-8  # of probabilities that are computed in two ways
DRAWS = 20_000


def tabulate_statements(rng: np.random.Generator, states: Iterable[str]) -> pd.DataFrame:
    """Check all statements, with one row per statement and setting.

    `states` is the state of each county.
    """
    rows = [
        *check_privacy(),
        *check_single_total(),
        check_partition(states),
        check_two_way_margins(),
        *check_smith_bases(),
        *check_sparseness(),
        *check_noise_without_invariants(),
        *count_points_in_balls(),
        *check_tails(),
        *check_exact_samplers(rng),
        *check_jumps(),
    ]
    return build_table(rows)


def check_single_total() -> Iterator[Row]:
    """Compare the distance of tables with the number of persons that change cell, one by one."""
    for cells, total in ((2, 4), (3, 4), (4, 3)):
        tables = [t for t in product(range(total + 1), repeat=cells) if sum(t) == total]

        def neighbours(table: tuple[int, ...], cells: int = cells) -> Iterator[tuple[int, ...]]:
            for source, target in product(range(cells), repeat=2):
                if source != target and table[source]:
                    yield tuple(
                        count - (i == source) + (i == target) for i, count in enumerate(table)
                    )

        holds = [
            steps_between(one, two, neighbours) == hamming_of_tables(one, two)
            for one, two in product(tables, repeat=2)
        ]
        yield count_failures("single total", f"{cells} cells, {total} persons", holds)


def check_partition(states: Iterable[str]) -> Row:
    """Check that every county belongs to exactly one state."""
    invariants = Invariants.partition(states)
    setting = f"{invariants.constraints} states and territories"
    return count_failures("partition", setting, invariants.matrix.sum(axis=0) == 1)


def check_two_way_margins() -> Row:
    """Check the number of margins of two-way tables, and their rank."""
    holds = []
    for r, c in product(range(1, 8), repeat=2):
        margins = Invariants.margins((r, c))
        rank = smith_normal_form(margins.sparse).rank
        holds.append(margins.constraints == r + c and rank == r + c - 1)
    return count_failures("two-way margins", "tables up to 7 x 7", holds)


def check_smith_bases() -> Iterator[Row]:
    """Check that the kernel of the Smith form is a basis of all integer noise.

    The vectors are independent and A u = 0 for each. A matrix of independent integer vectors whose
    divisors are all 1 generates every integer vector of its span. Vectors with entries of up to 1
    are also enumerated, and written in the basis.
    """
    for name, invariants in (SMALL | PAPER | OTHERS).items():
        form = smith_normal_form(invariants.sparse)
        a, n = invariants.matrix.astype(object), invariants.cells
        kernel = form.V.T[form.rank :]  # the bottom rows
        holds = [
            np.array_equal(form.U @ a @ form.V, form.D),
            *(set(_divisors(unimodular)) <= {1} for unimodular in (form.U, form.V)),
            not (a @ kernel.T).any(),
            _divisors(kernel) == (1,) * (n - form.rank),
        ]
        if n <= 8:
            vectors = np.array(list(product((-1, 0, 1), repeat=n)))
            vectors = vectors[~(vectors @ invariants.matrix.T).any(axis=1)]
            lattice = kernel_lattice(invariants, "smith")
            found = lattice.coordinates(vectors) @ lattice.basis.T
            holds += list((found == vectors).all(axis=1))
        yield count_failures("Smith basis", name, holds)


def _divisors(matrix: np.ndarray) -> tuple[int, ...]:
    return smith_normal_form(matrix.astype(np.int64)).divisors


def check_sparseness() -> Iterator[Row]:
    """Compare the numbers of lattice points in a ball as totals of a 2 x 3 table are added."""
    held = ((), ((),), ((0,),), ((0,), (1,)))
    for radius in (2, 3, 4):
        sizes = [len(list_points(Invariants.margins((2, 3), each), radius)) for each in held]
        setting = f"2 x 3 table, l2 norm up to {radius}"
        yield compare("sparser lattice", setting, sizes[1:], sizes[:-1])


def check_noise_without_invariants() -> Iterator[Row]:
    """Compare the noise of two cells without invariants with independent variables."""
    for epsilon in EPSILONS:
        noise = GeneralizedLaplace(epsilon)
        points = list_outputs(GRID, noise)
        expected = double_geometric_pmf(points, math.exp(-epsilon)).prod(axis=1)
        holds = np.isclose(probability(noise, points), expected, rtol=RELATIVE_ERROR, atol=0)
        yield count_failures("double geometric", f"epsilon {epsilon:g}", holds)
        log_density = scipy.stats.laplace.logpdf(points / 4, scale=1 / epsilon).sum(axis=1)
        constant = log_density - noise.log_weight(points / 4)
        holds = np.isclose(constant, 2 * math.log(epsilon / 2))
        yield count_failures("Laplace density", f"epsilon {epsilon:g}", holds)
    for sigma in SIGMAS:
        noise = GeneralizedGaussian(sigma)
        points = list_outputs(GRID, noise)
        # by Poisson's summation formula
        dual = np.exp(-2 * (math.pi * sigma * np.arange(1, 20)) ** 2).sum()
        mass = sigma * math.sqrt(2 * math.pi) * (1 + 2 * dual)
        expected = (np.exp(-((points / sigma) ** 2) / 2) / mass).prod(axis=1)
        holds = np.isclose(probability(noise, points), expected, rtol=RELATIVE_ERROR, atol=0)
        yield count_failures("discrete Gaussian", f"sigma {sigma:g}", holds)


def count_points_in_balls() -> Iterator[Row]:
    """Compare the number of lattice points in a ball with its volume, and with half the radius."""
    lattices = SMALL | {"total of 4 cells": Invariants.total(4), "no invariants": GRID}
    for name, invariants in lattices.items():
        counts = {radius: len(list_points(invariants, radius)) for radius in (20, 40)}
        dimension, density = _density(invariants)
        for radius, count in counts.items():
            volume = density * radius**dimension
            yield compare("points by volume", f"{name}, radius {radius}", [count], [volume])
        doubled = [counts[20] * 2.0**dimension]
        yield compare("points by doubling", f"{name}, radius 40", [counts[40]], doubled)


def _density(invariants: Invariants) -> tuple[int, float]:
    """Return the dimension d, and the volume of the unit ball divided by that of a lattice cell."""
    basis = kernel_lattice(invariants, "lll").basis.astype(float)
    d = basis.shape[1]
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    return d, ball / math.sqrt(np.linalg.det(basis.T @ basis))


def check_tails() -> Iterator[Row]:
    """Compare the mean of the noise with 0, and the tail of its norm with the bound of the proof.

    The proof bounds the sum of the weights from below by 1, and the number of points of each shell
    by twice the volume of a ball. The terms of the resulting series over the shells k are
    (k + 1)^d exp(-energy(k)), and the ratio test bounds their sum from the shell of t on.
    """
    laplace = [GeneralizedLaplace(*each) for each in product(EPSILONS, NORMS)]
    gaussian = [GeneralizedGaussian(sigma) for sigma in SIGMAS]
    for (name, invariants), noise in product(SMALL.items(), laplace + gaussian):
        points = list_outputs(invariants, noise)
        p, norms = probability(noise, points), noise.noise_norm(points)
        kind = "Gaussian" if noise in gaussian else "Laplace"
        parameters = ", ".join(f"{key} {x}" for key, x in noise.as_dict().items() if key != "name")
        setting = f"{name}, {parameters}"
        largest = np.abs(p @ points).max()
        yield {"statement": f"{kind} mean", "setting": setting, "value": largest}
        dimension, density = _density(invariants)
        tails, bounds = [], []
        for t in range(2, int(norms.max())):
            tail = float(p[norms >= t].sum())
            log_terms = [dimension * math.log(k + 1) - _energy(noise, k) for k in (t, t + 1)]
            step = math.exp(log_terms[1] - log_terms[0])
            if tail > 1e-8 and step < 1:
                tails.append(tail)
                bounds.append(2 * density * math.exp(log_terms[0]) / (1 - step))
        yield compare(f"{kind} tail", setting, tails, bounds)


def _energy(mechanism: Mechanism, norm: float) -> float:
    """Return -log of the weight of noise with a norm."""
    energy = mechanism.energy
    return float(energy.rate * norm ** (1 if energy.of_norm else energy.power))


def check_exact_samplers(rng: np.random.Generator) -> Iterator[Row]:
    """Compare exact draws with the enumerated distribution by Pearson's chi-square test."""
    targets = [("exact Gaussian", GAUSSIAN), *(("exact Laplace", n) for n in (LAPLACE, L2_LAPLACE))]
    for (name, invariants), (statement, noise) in product(SMALL.items(), targets):
        points = list_outputs(invariants, noise)
        expected = DRAWS * probability(noise, points)
        draws = select_sampler(noise, invariants).sample(rng, DRAWS)
        both, number = np.unique(np.vstack([points, draws]), axis=0, return_inverse=True)
        found = np.bincount(number.ravel()[len(points) :], minlength=len(both))
        mean = np.bincount(number.ravel()[: len(points)], expected, len(both))
        rising = np.sort(mean)  # the pooled points have an expectation of 5 draws or more
        frequent = mean > max(5, rising[np.searchsorted(np.cumsum(rising), 5)])
        found = np.append(found[frequent], found[~frequent].sum())
        mean = np.append(mean[frequent], DRAWS - mean[frequent].sum())
        p_value = scipy.stats.chisquare(found, mean).pvalue
        setting = f"{name}, {getattr(noise, 'norm', 'l2')}"
        yield {"statement": statement, "setting": setting, "value": p_value, "cases": DRAWS}


def check_jumps() -> Iterator[Row]:
    """Check jumps V e whose entries e have weights 2^-|e|, in integer arithmetic."""
    for name, invariants in (SMALL | OTHERS).items():
        basis = kernel_lattice(invariants, "smith").basis
        jumps = np.array(list(product(range(-4, 5), repeat=basis.shape[1])))
        weights = (1 << (4 - np.abs(jumps))).prod(axis=1)
        moves = jumps @ basis.T
        weight_of = dict(zip(map(tuple, moves.tolist()), weights.tolist(), strict=True))
        opposite = [weight_of.get(tuple(move)) for move in (-moves).tolist()]
        holds = [
            *(~invariants.apply(moves).any(axis=1)),
            *(weights @ moves == 0),
            *(weights == opposite),
            len(weight_of) == len(moves),
        ]
        yield count_failures("jumps", name, holds)
