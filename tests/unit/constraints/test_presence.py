import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components

from isdp import InputError
from isdp.constraints.implied import irredundant
from isdp.constraints.presence import Presence

DORMS = Presence(np.array([100, 100]), np.array([[1, 1, 0], [0, 1, 1]]))


def random_presence(seed, leaves=6, kinds=4, chance=0.4, most=9):
    rng = np.random.default_rng(seed)
    present = rng.random((leaves, kinds)) < chance
    return Presence(
        present.sum(axis=1) + present.any(axis=1) * rng.integers(0, most, leaves), present
    )


def can_be_met(presence, kind_totals):
    """Linear feasibility of the table leaf by kind, which knows nothing of subsets or flows."""
    leaves, kinds = presence.present.shape
    rows = np.vstack(
        [
            np.kron(np.eye(leaves), np.ones(kinds)),
            np.kron(np.ones(leaves), np.eye(kinds)),
        ]
    )
    bounds = [
        (int(low), None if there else 0)
        for low, there in zip(presence.minimums.ravel(), presence.present.ravel(), strict=True)
    ]
    sides = np.concatenate([presence.totals, kind_totals])
    return linprog(np.zeros(leaves * kinds), A_eq=rows, b_eq=sides, bounds=bounds).status == 0


def test_the_slides_flow_of_the_dormitories():
    members, bounds = DORMS.subset_bounds()
    named = {
        tuple(np.flatnonzero(m).tolist()): int(b) for m, b in zip(members, bounds, strict=True)
    }
    assert DORMS.surpluses.tolist() == [98, 98]
    assert named == {
        (0,): 99,
        (1,): 198,
        (2,): 99,
        (0, 1): 199,
        (0, 2): 198,
        (1, 2): 199,
        (0, 1, 2): 200,
    }
    assert DORMS.irredundant_subsets() == [(0,), (2,), (0, 1), (1, 2)]
    assert DORMS.violated_bound(np.array([49, 50, 101])) == (2,)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_bounds_flow_and_linear_feasibility_agree(seed, other):
    presence = random_presence(seed)
    rng = np.random.default_rng(other)
    total = int(presence.totals.sum())
    kind_totals = rng.multinomial(total, rng.dirichlet(np.ones(presence.groups)))
    members, bounds = presence.subset_bounds()
    met = bool((members @ kind_totals <= bounds).all())
    met &= bool((kind_totals >= presence.minimums.sum(axis=0)).all())
    assert met == can_be_met(presence, kind_totals)
    subset = presence.violated_bound(kind_totals)
    assert (subset is None) == met
    if met:
        table = presence.split(kind_totals)
        assert (table.sum(axis=0) == kind_totals).all()
        assert (table.sum(axis=1) == presence.totals).all()
        assert (table >= presence.minimums).all()
        assert not table[~presence.present].any()
    else:
        assert (
            kind_totals[list(subset)].sum() > presence.max_people(subset)
            or kind_totals[subset[0]] < presence.minimums[:, subset[0]].sum()
        )
        with pytest.raises(InputError, match="groups"):
            presence.split(kind_totals)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_the_needed_subsets_are_as_many_as_linear_programmes_leave(seed, kinds):
    presence = random_presence(seed, leaves=5, kinds=kinds, chance=0.5)
    needed = presence.irredundant_subsets()
    members, bounds = presence.subset_bounds()
    together = presence.present[presence.surpluses > 0].astype(int)
    count, label = connected_components(together.T @ together, directed=False)
    components = [np.flatnonzero(label == part).tolist() for part in range(count)]
    if len(components) == 1:
        assert irredundant(presence.polytope()).inequalities.constraints == len(needed)
    rows = np.array([[k in subset for k in range(kinds)] for subset in needed]).reshape(-1, kinds)
    fixed = np.array([[k in component for k in range(kinds)] for component in components])
    # one programme for all members, which falls apart into one for each
    each, count = np.eye(len(members)), len(members)
    found = linprog(
        -members.astype(float).ravel(),
        A_ub=np.kron(each, rows) if len(rows) else None,
        b_ub=[presence.max_people(s) for s in needed] * count if needed else None,
        A_eq=np.kron(each, fixed),
        b_eq=[presence.max_people(component) for component in components] * count,
        bounds=(None, None),
    )
    largest = (members * found.x.reshape(members.shape)).sum(axis=1)
    assert (largest <= bounds + 1e-7).all()


@pytest.mark.parametrize(
    ("totals", "present", "least", "match"),
    [
        ([1], [[1, 1]], None, "leaf 0"),
        ([3, 3], [[1, 1], [0, 0]], None, "leaf 1"),
        ([3], [[1], [1]], None, "totals"),
        ([3.5], [[1]], None, "totals"),
        ([3], [[1]], [[-1]], "minimums"),
    ],
)
def test_leaves_that_cannot_be_are_named(totals, present, least, match):
    with pytest.raises(InputError, match=match):
        Presence(np.array(totals), np.array(present), None if least is None else np.array(least))


def test_wrong_totals_and_shapes_are_told():
    assert DORMS.violated_bound(np.array([50, 50, 50])) == (0, 1, 2)
    assert DORMS.violated_bound(np.array([0, 150, 50])) == (0,)
    with pytest.raises(InputError, match="group_totals"):
        DORMS.violated_bound(np.array([50, 150]))
    with pytest.raises(InputError, match="groups"):
        Presence(np.array([30]), np.ones((1, 21))).subset_bounds()


def test_messages_quote_no_total():
    for refused in (
        lambda: Presence(np.array([7000]), np.ones((1, 1)), np.array([[8000]])),
        lambda: Presence(np.array([7000]), np.zeros((1, 1))),
        lambda: Presence(np.array([7000, 800]), np.eye(2)).split(np.array([6999, 801])),
    ):
        with pytest.raises(InputError) as raised:
            refused()
        assert not set("6789") & set(str(raised.value))
