"""Check the statements of SDP by exact computation, in subspace_statements.

A row either compares a value with the bound that a statement gives for it, or counts the cases in
which an equality fails. Evidence on a finite number of settings is no proof.

SDP is *Subspace Differential Privacy*.
"""

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import scipy
from scipy.sparse import csr_array

from isdp.constraints.invariants import Invariants
from isdp.lattice.elimination import independent_rows
from isdp.subspace import (
    CorrelatedGaussian,
    KNorm,
    ProjectedLaplace,
    Query,
    base_decomposition,
    min_trace_shape,
    null_sensitivity,
    null_space,
    sensitivity,
)
from isdp.subspace.accuracy import min_variance_approximate, min_variance_pure
from isdp.subspace.privacy.gaussian_calibration import delta as gaussian_delta
from isdp.subspace.privacy.neighbours import differences
from reproduction.jobs.statements import Row, build_table, compare, count_failures
from reproduction.subspace.theory.finite_mechanisms import (
    FiniteMechanism,
    FiniteSetting,
    FiniteSpace,
    project_onto_rows,
)
from reproduction.subspace.theory.frameworks import projected_covariance
from reproduction.subspace.theory.least_error import least_errors_of_both

ODD = Invariants([[1, 0, 1, 0]])  # number of records with an odd value (Example 2.4)
SETTINGS = (
    FiniteSetting("histogram of 3 cells, total", Query.histogram(3), Invariants.total(3)),
    FiniteSetting("histogram of 4 cells, number of odd values", Query.histogram(4), ODD),
    FiniteSetting("2 x 2 table, both margins", Query.histogram(4), Invariants.margins((2, 2))),
    FiniteSetting("prefix sums of 3 cells, total", Query.prefixes(3), Invariants([[0, 0, 1]])),
    FiniteSetting(
        "histogram of 3 cells, weights 1 2 3", Query.histogram(3), Invariants([[1, 2, 3]])
    ),
)
RATIOS = tuple(map(Fraction, ("1", "3/2", "2", "4")))  # values of exp(epsilon)
LEAST_ERROR_SETTINGS = (
    FiniteSetting("histogram of 2 cells, total", Query.histogram(2), Invariants.total(2), 3),
    FiniteSetting("histogram of 3 cells, odd values", Query.histogram(3), Invariants([[1, 0, 1]])),
    SETTINGS[2],
    SETTINGS[3],
)
SOLVER_TOLERANCE = 1e-7  # of the optimum of a linear program
WORKLOADS = {
    "histogram of 16 cells, total": (Query.histogram(16), Invariants.total(16)),
    "3 x 3 table, both margins": (Query.histogram(9), Invariants.margins((3, 3))),
    "ranges of 5 cells, total": (Query.ranges(5), Invariants.subsets([[4]], 15)),
    "prefix sums of 16 cells, total": (Query.prefixes(16), Invariants.subsets([[15]], 16)),
    "tree of 2 x 2 x 2 cells, total": (Query.hierarchy((2, 2, 2)), Invariants.subsets([[0]], 15)),
}
K_NORM_WORKLOADS = {
    **WORKLOADS,
    "histogram of 100 cells, total": (Query.histogram(100), Invariants.total(100)),
}
BUDGETS = tuple(product((0.01, 0.1, 0.5, 1.0), (1e-3, 1e-6, 1e-9, 1e-12)))  # epsilon, delta
EPSILONS = (0.1, 1.0)
LAPLACE_QUERIES = {
    "histogram of 4 cells": Query.histogram(4),
    "ranges of 3 cells": Query.ranges(3),
    "prefix sums of 4 cells": Query.prefixes(4),
    "tree of 2 x 2 cells": Query.hierarchy((2, 2)),
}


def tabulate_statements(rng: np.random.Generator) -> pd.DataFrame:
    """Check all statements, with one row per statement and setting."""
    generators = rng.spawn(4)
    return build_table(
        [
            check_printed_numbers(),
            *check_examples(),
            *check_independent_rows(),
            *check_subspaces(generators[0]),
            *check_two_releases(),
            *check_other_properties(generators[1]),
            *check_projection(generators[2]),
            *check_extension(generators[3]),
            *check_laplace(),
            *compare_sensitivities(),
            *compare_least_errors(),
            *check_correlated_noise(),
            *measure_k_norm(),
            *compare_with_marginals(),
            *check_binary_attributes(),
        ]
    )


def check_printed_numbers() -> Row:
    """Multiply the printed factors of epsilon (Section 5.1)."""
    printed = Fraction("4") * Fraction("0.16") * Fraction("0.3")
    return count_failures("printed epsilon", "three factors", [printed == Fraction("0.192")])


def check_examples() -> Iterator[Row]:
    """Compare the invariants of Examples 2.3 and 2.4 with counts of records."""
    examples = {"Example 2.3": (Invariants.total(4), {1, 2, 3, 4}), "Example 2.4": (ODD, {1, 3})}
    for name, (invariants, counted) in examples.items():
        row, unit = project_onto_rows(invariants.matrix)
        exact = invariants.matrix @ row == unit * invariants.matrix  # projected noise adds nothing
        holds = [exact.all() and null_space(invariants).rank == 1]
        for size in range(1, 5):
            for records in combinations_with_replacement((1, 2, 3, 4), size):
                histogram = np.bincount(records, minlength=5)[1:]
                wanted = sum(value in counted for value in records)
                holds.append(invariants.apply(histogram).tolist() == [wanted])
        yield count_failures("examples of invariants", name, holds)


def check_independent_rows() -> Iterator[Row]:
    """Compare redundant invariants with their independent rows (Section 2.1, footnote 1)."""
    redundant = {
        "margins of a 2 x 3 table": Invariants.margins((2, 3)).matrix,
        "margins of a 2 x 2 x 2 table": Invariants.margins(
            (2, 2, 2), ((0, 1), (0, 2), (1, 2))
        ).matrix,
        "a total twice": np.array([[1, 1, 1], [2, 2, 2]]),
    }
    for name, rows in redundant.items():
        chosen = rows[independent_rows(csr_array(rows))]
        projection, unit = project_onto_rows(chosen)
        translated = (
            rows @ projection == unit * rows
        ).all()  # each row is in the smaller row space
        full_rank = np.linalg.matrix_rank(chosen) == len(chosen) < len(rows)
        yield count_failures("independent rows", name, [translated, full_rank])


def _deltas(mechanism: FiniteMechanism, space: FiniteSpace) -> list[Fraction]:
    return [mechanism.delta(space.pairs, ratio) for ratio in RATIOS]


def check_subspaces(rng: np.random.Generator) -> Iterator[Row]:
    """Compare delta in nested subspaces, for drawn mechanisms (Proposition 2.7, Corollary 2.8)."""
    for setting in SETTINGS:
        space = FiniteSpace(setting)
        mechanism = space.draw_mechanism(rng)
        n = setting.query.answers
        basis = np.zeros((n, n), dtype=np.int64)
        while round(np.linalg.det(basis)) == 0:
            basis = rng.integers(-1, 2, (n, n))
        chain = [_deltas(mechanism, space)]
        for dimension in range(n - 1, 0, -1):
            projection, _ = project_onto_rows(basis[:dimension])
            chain.append(_deltas(mechanism.multiply(projection), space))
        smaller, larger = np.array(chain[1:], float), np.array(chain[:-1], float)
        yield compare("nested subspaces", setting.name, smaller.ravel(), larger.ravel())
        whole = np.broadcast_to(larger[0], smaller.shape)
        yield compare("any subspace", setting.name, smaller.ravel(), whole.ravel())


def check_two_releases() -> Iterator[Row]:
    """Count the tables that two releases determine and no single one does (after 2.9).

    The releases of one table have exact row totals and exact column totals.
    """
    for shape, persons in (((2, 2), 3), ((2, 3), 4), ((3, 3), 3)):
        people = combinations_with_replacement(range(math.prod(shape)), persons)
        tables = [np.bincount(cells, minlength=math.prod(shape)).reshape(shape) for cells in people]
        rows = [tuple(table.sum(axis=1)) for table in tables]
        columns = [tuple(table.sum(axis=0)) for table in tables]
        both = list(zip(rows, columns, strict=True))
        by_rows, by_columns, by_both = Counter(rows), Counter(columns), Counter(both)
        found = [
            by_both[row, column] == 1 and by_rows[row] > 1 and by_columns[column] > 1
            for row, column in both
        ]
        yield {
            "statement": "two releases determine all cells",
            "setting": f"{shape[0]} x {shape[1]} tables of {persons} persons",
            "value": sum(found),
            "cases": len(tables),
        }


def check_other_properties(rng: np.random.Generator) -> Iterator[Row]:
    """Check post-processing, the release of the row space, and mixtures (end of Section 2.3)."""
    for setting in SETTINGS:
        space = FiniteSpace(setting)
        one, other = (space.project(space.draw_mechanism(rng)) for _ in range(2))
        inside = one.multiply(space.null)
        before = _deltas(inside, space)
        # a random function with four values of the part in the null space
        _, place = np.unique(
            inside.outputs.reshape(-1, len(space.null)), axis=0, return_inverse=True
        )
        labels = rng.integers(0, 4, place.max() + 1)[place.ravel()]
        after = inside._replace(outputs=labels.reshape(*inside.weights.shape, 1))
        yield compare("post-processing", setting.name, _deltas(after, space), before)
        outside = one.multiply(space.row)
        differ = (space.answers @ space.row)[space.pairs]
        holds = [
            outside.delta(pair[None], Fraction(4)) == int((first != second).any())
            for pair, (first, second) in zip(space.pairs, differ, strict=True)
        ]
        yield count_failures("row space is released", setting.name, holds)
        mixed = FiniteMechanism(
            np.concatenate([one.outputs, other.outputs], axis=1),
            np.concatenate([one.weights, 2 * other.weights], axis=1),
        )
        bounds = map(max, before, _deltas(other.multiply(space.null), space))
        yield compare("mixture", setting.name, _deltas(mixed.multiply(space.null), space), bounds)


def check_projection(rng: np.random.Generator) -> Iterator[Row]:
    """Check Theorem 3.1 on drawn mechanisms, and Corollaries 3.2 and 4.1 on drawn noise."""
    for setting in SETTINGS:
        space = FiniteSpace(setting)
        given = space.draw_mechanism(rng)
        noisy = FiniteMechanism(
            space.answers[:, None] + space.noise, space.draw_noise(rng, symmetric=True)
        )
        for name, mechanism in (("projection", given), ("projected noise", noisy)):
            projected = space.project(mechanism)
            inside = _deltas(projected.multiply(space.null), space)
            yield compare(name, setting.name, inside, _deltas(mechanism, space))
            kept = space.keeps_invariants(projected)
            yield count_failures(f"{name} keeps the invariants", setting.name, kept)
        added = space.unit * space.answers[:, None] + space.noise @ space.null
        equal = (projected.outputs == added).all(axis=-1).ravel()
        yield count_failures("projected noise is added", setting.name, equal)
        mean = space.unit * noisy.weights[0].sum() * space.answers
        unbiased = (projected.mean() == mean).all(axis=1)
        yield count_failures("projected noise is unbiased", setting.name, unbiased)


def check_extension(rng: np.random.Generator) -> Iterator[Row]:
    """Check both directions of Theorem 3.3, and the bias and the error of extended mechanisms."""
    for setting in SETTINGS:
        space = FiniteSpace(setting)
        hat = space.draw_mechanism(rng).multiply(space.null)
        extended = space.extend(hat)
        inside = extended.multiply(space.null)
        yield compare("extension", setting.name, _deltas(inside, space), _deltas(hat, space))
        kept = space.keeps_invariants(extended)
        yield count_failures("extension keeps the invariants", setting.name, kept)
        # any mechanism on the grid shifted by the answers that keeps the invariants
        drawn = space.draw_mechanism(rng)
        induced = space.project(drawn._replace(outputs=drawn.outputs + space.answers[:, None]))
        rest = induced._replace(outputs=induced.outputs - (space.answers @ space.row)[:, None])
        null_part = (rest.outputs @ space.null == space.unit * rest.outputs).all()
        private = _deltas(rest, space) == _deltas(induced.multiply(space.null), space)
        again = (space.extend(rest).outputs == induced.outputs).all()
        yield count_failures("converse of extension", setting.name, [null_part, private, again])
        weight = hat.weights[0].sum()
        bias = extended.mean() - weight * space.unit * space.answers
        own_bias = hat.mean() - weight * (space.answers @ space.null)
        equal = (bias == own_bias).all(axis=1)
        noise = space.noise @ space.null
        noisy = FiniteMechanism(
            (space.answers @ space.null)[:, None] + noise, space.draw_noise(rng, symmetric=True)
        )
        mean = noisy.weights[0].sum() * space.unit * space.answers
        unbiased = (space.extend(noisy).mean() == mean).all(axis=1)
        yield count_failures("bias of extension", setting.name, [*equal, *unbiased])
        basis = scipy.linalg.null_space(space.invariants.matrix)
        moves = (hat.outputs - (space.answers @ space.null)[:, None]) / space.unit
        norms = [np.square(each).sum(axis=-1).ravel() for each in (moves, moves @ basis)]
        yield count_failures("error in coordinates", setting.name, np.isclose(*norms, rtol=1e-12))


def check_laplace() -> Iterator[Row]:
    """Compare the exact loss of Laplace noise with epsilon (Lemma 3.7).

    The loss is piecewise linear in each answer and constant outside the interval between the two
    true answers. Its maximum is therefore at a combination of true answers.
    """
    for name, query in LAPLACE_QUERIES.items():
        for epsilon in EPSILONS:
            noise = scipy.stats.laplace(scale=sensitivity(query, 1) / epsilon)
            losses = []
            for move in differences(query):
                points = np.array(list(product(*({0, int(step)} for step in move))))
                loss = (noise.logpdf(points) - noise.logpdf(points - move)).sum(axis=1)
                losses.append(np.abs(loss).max())
            yield compare(
                "Laplace noise", f"{name}, epsilon {epsilon:g}", losses, [epsilon] * len(losses)
            )


def compare_sensitivities() -> Iterator[Row]:
    """Compare the l2 sensitivity within the null space with that of the answers (after 3.6)."""
    for name, (query, held) in WORKLOADS.items():
        values, bounds = [null_sensitivity(query, held)], [sensitivity(query, 2)]
        yield compare("sensitivity within the null space", name, values, bounds)


def compare_least_errors() -> Iterator[Row]:
    """Compare both sides of Corollary 3.10 for outputs on a grid."""
    for setting in LEAST_ERROR_SETTINGS:
        space = FiniteSpace(setting)
        pairs = [
            least_errors_of_both(space, ratio, delta)
            for ratio, delta in product((1.5, 4.0), (0.0, 0.1))
        ]
        holds = [math.isclose(*pair, rel_tol=SOLVER_TOLERANCE) for pair in pairs]
        yield count_failures("least error", setting.name, holds)


def check_correlated_noise() -> Iterator[Row]:
    """Check the guarantee and the error of the correlated Gaussian noise of Theorem 3.11.

    The error is divided by a lower bound for all additive noise, and compared with the order
    (log2 m)^2 ln(1 / delta), where m is the dimension of the null space.
    """
    for name, (query, held) in WORKLOADS.items():
        shape, lower = base_decomposition(query, held), min_trace_shape(query, held).lower
        order = math.log2(null_space(held).dimension) ** 2
        moves = null_space(held).project(differences(query))
        deltas, factors = [], []
        for epsilon, delta in BUDGETS:
            noise = CorrelatedGaussian(shape, epsilon, delta)
            inverse = np.linalg.pinv(noise.covariance(), rcond=1e-9, hermitian=True)
            longest = math.sqrt(np.einsum("ij,jk,ik->i", moves, inverse, moves).max())
            deltas.append(float(gaussian_delta(epsilon, 1 / longest)))
            factors.append(noise.error / (min_variance_approximate(epsilon, delta) * lower))
        yield compare("delta of correlated noise", name, deltas, [delta for _, delta in BUDGETS])
        orders = [order * -math.log(delta) for _, delta in BUDGETS]
        yield compare("error of correlated noise", name, factors, orders)


def measure_k_norm() -> Iterator[Row]:
    """Compare the error of K-norm noise with a lower bound, and with the order (log2 m)^2."""
    for name, (query, held) in K_NORM_WORKLOADS.items():
        lower = min_trace_shape(query, held).lower
        order = math.log2(null_space(held).dimension) ** 2
        factors = [
            KNorm(query, held, epsilon).error / (min_variance_pure(epsilon) * lower)
            for epsilon in EPSILONS
        ]
        yield compare("error of K-norm noise", name, factors, [order] * len(factors))


def compare_with_marginals() -> Iterator[Row]:
    """Compare projected noise with the marginal and the conditional distribution (Section 4).

    The values are the largest differences of the covariances. The bound is the difference from the
    conditional distribution.
    """
    margins = Invariants.margins((4, 4))
    for name, held, covariance in (
        ("variances 1 to 4, total", Invariants.total(4), np.diag(np.arange(1.0, 5))),
        ("variances 1 to 16, both margins", margins, np.diag(np.arange(1.0, 17))),
        (
            "two correlated pairs, total",
            Invariants.total(4),
            np.kron(np.diag([1.0, 2.0]), [[2, 1], [1, 2]]),
        ),
    ):
        basis = scipy.linalg.null_space(held.matrix)
        marginal = basis @ (basis.T @ covariance @ basis) @ basis.T
        precision = basis.T @ np.linalg.inv(covariance) @ basis
        conditional = basis @ np.linalg.inv(precision) @ basis.T
        projected = projected_covariance(covariance, held)
        gaps = [np.abs(projected - each).max() for each in (marginal, conditional)]
        yield compare("marginal distribution", f"Gaussian, {name}", gaps[:1], gaps[1:])
    for cells in (3, 10, 100):
        query, held = Query.histogram(cells), Invariants.total(cells)
        laplace = ProjectedLaplace(query, held, 1.0)
        basis = scipy.linalg.null_space(held.matrix)
        marginal = basis @ (basis.T @ (2 * laplace.scale**2 * np.eye(cells)) @ basis) @ basis.T
        conditional = KNorm(query, held, 1.0).covariance()
        gaps = [np.abs(laplace.covariance() - each).max() for each in (marginal, conditional)]
        yield compare(
            "marginal distribution", f"Laplace, total of {cells} cells", gaps[:1], gaps[1:]
        )


def check_binary_attributes() -> Iterator[Row]:
    """Try all noise that does not depend on binary data and has binary outputs (Section 6)."""
    for n in (1, 2, 3, 4):
        data = np.array(list(product((0, 1), repeat=n)))
        noise = np.array([each for each in product((-1, 0, 1), repeat=n) if any(each)])
        released = data[:, None] + noise
        binary = ((released == 0) | (released == 1)).all(axis=(0, 2))
        yield count_failures("binary attributes", f"{n} attributes", ~binary)
