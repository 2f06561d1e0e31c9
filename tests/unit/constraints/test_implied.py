import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from isdp import InputError, Invariants, Polytope
from isdp.constraints.implied import implied_constraints, irredundant
from isdp.constraints.presence import Presence


def regions_polytope(totals, present):
    """Variables: kinds in each region, then the sums over regions (TDA, "An Example")."""
    leaves, kinds = np.shape(present)
    own = leaves * kinds
    equal, sides = [], []
    for leaf in range(leaves):
        row = np.zeros(own + kinds, dtype=int)
        row[leaf * kinds : (leaf + 1) * kinds] = 1
        equal.append(row)
        sides.append(totals[leaf])
    for kind in range(kinds):
        row = np.zeros(own + kinds, dtype=int)
        row[kind:own:kinds] = 1
        row[own + kind] = -1
        equal.append(row)
        sides.append(0)
    above, least = [], []
    for leaf, kind in itertools.product(range(leaves), range(kinds)):
        row = np.zeros(own + kinds, dtype=int)
        row[leaf * kinds + kind] = 1
        if present[leaf][kind]:
            above.append(row)
            least.append(1)
        else:
            equal.append(row)
            sides.append(0)
    return Polytope(Invariants(equal), np.array(sides), Invariants(above), np.array(least))


DORMS = [[1, 1, 0], [0, 1, 1]]  # female-only, co-ed, male-only


def triples(total):
    return np.array([(f, c, total - f - c) for f in range(total + 1) for c in range(total + 1 - f)])


def test_the_dormitories_have_exactly_the_slides_constraints():
    dorm = regions_polytope([100, 100], DORMS)
    implied = implied_constraints(dorm, [6, 7, 8]).polytope
    points = triples(200)
    f, c, m = points.T
    slides = (f >= 1) & (c >= 2) & (m >= 1) & (f <= 99) & (c + f >= 101)
    by_hand = {
        (f1 + 0, c1 + c2, m2)
        for f1 in range(1, 100)
        for c1 in [100 - f1]
        for m2 in range(1, 100)
        for c2 in [100 - m2]
    }
    assert len(points) == 20_301
    assert ((f >= 1) & (c >= 2) & (m >= 1)).sum() == 19_503
    assert {tuple(map(int, p)) for p in points[implied.contains(points)]} == by_hand
    assert len(by_hand) == 99**2 == slides.sum()
    assert (implied.contains(points) == slides).all()
    assert not implied.contains(np.array([49, 50, 101]))


def test_four_bounds_are_enough_for_the_dormitories_and_no_three():
    implied = implied_constraints(regions_polytope([100, 100], DORMS), [6, 7, 8]).polytope
    few = irredundant(implied)
    points = triples(200)
    assert few.inequalities.constraints == 4
    assert (few.contains(points) == implied.contains(points)).all()
    for drop in range(4):
        kept = [row for row in range(4) if row != drop]
        three = Polytope(
            few.equalities,
            few.totals,
            Invariants(few.inequalities.matrix[kept]),
            few.lower_bounds[kept],
        )
        assert three.contains(points).sum() > few.contains(points).sum()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(2, 3))
def test_elimination_subset_bounds_and_enumeration_give_the_same_points(seed, leaves, kinds):
    rng = np.random.default_rng(seed)
    present = rng.random((leaves, kinds)) < 0.6
    present[np.arange(leaves), rng.integers(0, kinds, leaves)] = True
    totals = present.sum(axis=1) + rng.integers(0, 4, leaves)
    keep = range(leaves * kinds, (leaves + 1) * kinds)
    implied = implied_constraints(regions_polytope(totals, present), keep).polytope

    tables = [
        [
            t
            for t in itertools.product(range(total + 1), repeat=kinds)
            if sum(t) == total
            and all((x >= 1) if p else (x == 0) for x, p in zip(t, row, strict=True))
        ]
        for total, row in zip(totals, present, strict=True)
    ]
    reached = {tuple(map(sum, zip(*parts, strict=True))) for parts in itertools.product(*tables)}
    points = np.array(
        [
            p
            for p in itertools.product(range(totals.sum() + 1), repeat=kinds)
            if sum(p) == totals.sum()
        ]
    )
    for polytope in (implied, Presence(totals, present).polytope()):
        assert {tuple(map(int, p)) for p in points[polytope.contains(points)]} == reached


def lacking(polytope, kept, points):
    """By how much each point misses what some of the other cells would have to meet, at least."""
    a, b = polytope.equalities.matrix, polytope.inequalities.matrix
    rest, one = np.setdiff1d(np.arange(a.shape[1]), kept), np.eye(len(points))
    # of each point the other cells, by how much they are above and below a total, and under a least
    equal = np.kron(one, np.hstack([a[:, rest], [[1, -1, 0]]]))
    most = np.kron(one, np.hstack([-b[:, rest], np.tile([0, 0, -1], (len(b), 1))]))
    found = linprog(
        np.tile([0] * len(rest) + [1] * 3, len(points)),
        most,
        (points @ b[:, kept].T - polytope.lower_bounds).ravel(),
        equal,
        (polytope.totals - points @ a[:, kept].T).ravel(),
        bounds=([(None, None)] * len(rest) + [(0, None)] * 3) * len(points),
    )
    return found.x.reshape(len(points), -1)[:, len(rest) :].sum(axis=1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_point_is_kept_just_where_the_rest_can_be_filled_in(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-2, 3, (1, 5)), rng.integers(-2, 3, (6, 5))
    inside = rng.integers(-3, 4, 5)
    polytope = Polytope(
        Invariants(a), a @ inside, Invariants(b), b @ inside - rng.integers(0, 5, 6)
    )
    implied = implied_constraints(polytope, [1, 3]).polytope
    points = np.array(list(itertools.product(range(-4, 5, 2), repeat=2)))
    filled = lacking(polytope, [1, 3], points) < 1e-6
    assert implied.contains(points).tolist() == filled.tolist()


def test_contradictions_and_explosions_are_refused():
    at_once = Invariants([[1, 0, 0], [-1, 0, 0]])
    with pytest.raises(InputError, match="contradict"):
        implied_constraints(
            Polytope(Invariants([[0, 1, 1]]), np.array([1]), at_once, np.array([3, -2])), [1]
        )
    with pytest.raises(InputError, match="inequalities"):
        implied_constraints(
            regions_polytope([9, 9, 9], np.ones((3, 3))), [9, 10, 11], max_inequalities=3
        )
    with pytest.raises(InputError, match="distinct"):
        implied_constraints(regions_polytope([9, 9], DORMS), [0, 0])
