"""The chain that redraws two rows at once: its parts against plain ones, and what it keeps to."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import vstack

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from isdp.mcmc import paired_coupling
from isdp.mcmc.lattices import lattice_step
from isdp.mcmc.pair_kernels import Side, column_laws, draw_columns
from isdp.mcmc.paired_coupling import coupled_sweep, paired_meeting_times, pairing
from isdp.mcmc.paired_rows import PairedRows, _lesser, _messages
from isdp.mcmc.sum_laws import sum_log_law
from isdp.mcmc.table_shapes import shape_of
from isdp.mechanisms.laplace import double_geometric_pmf

TWO_WAY = [(0, 1), (0, 2), (1, 2)]
FOUR = Invariants.margins((3, 4, 2), TWO_WAY)


def shared(sizes):
    """Both margins of a table whose places hold so many cells each."""
    rows, columns = (np.repeat(axis.ravel(), np.ravel(sizes)) for axis in np.indices(sizes.shape))
    margins = [Invariants.partition(labels).sparse for labels in (rows, columns)]
    return Invariants(vstack(margins, format="csr"))


# -- the table in the totals ------------------------------------------------------------------


def test_the_table_is_found_in_its_totals():
    found = shape_of(Invariants.margins((5, 3)))
    assert found.shape == (3, 5)
    assert found.kind.tolist() == np.arange(15).reshape(3, 5).T.ravel().tolist()
    assert found.sizes.tolist() == [1] * 15
    sizes = np.array([[2, 1, 3], [1, 4, 1]])
    found = shape_of(shared(sizes))
    assert found.shape == (2, 3)
    assert found.sizes.reshape(2, 3).tolist() == sizes.tolist()
    assert found.kind.tolist() == np.repeat(np.arange(6), sizes.ravel()).tolist()


@pytest.mark.parametrize("held", [TWO_WAY, TWO_WAY[::-1], [(1, 2), (0, 1), (0, 2)]])
def test_three_categories_are_found_in_any_order(held):
    found = shape_of(Invariants.margins((4, 2, 3), held))
    assert found.shape == (2, 3, 4)
    table = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)
    assert found.kind.tolist() == table.ravel().tolist()


@pytest.mark.parametrize(
    ("invariants", "words"),
    [
        (Invariants.total(5), "1 sets of totals"),
        (Invariants.subsets([[0, 1], [1, 2]], 3), "overlap within a set"),
        (Invariants.subsets([[0, 1]], 3), "leave cells out"),
        (Invariants(np.array([[1, 2, 1]])), "weights other than one"),
        (Invariants.margins((2, 2, 2, 2), [(0,), (1,), (2,), (3,)]), "4 sets of totals"),
        (Invariants.margins((3, 3, 3), [(0,), (1,), (2,)]), "paired rows"),
        (Invariants.margins((3, 3, 2), [(0, 1), (1, 2)]), "do not fill a table"),
        (Invariants.margins((2, 3, 4), [(0, 1), (0, 2), (0, 1, 2)]), "paired rows"),
    ],
)
def test_other_totals_are_refused(invariants, words):
    with pytest.raises(InputError, match=words):
        shape_of(invariants)


def test_other_laws_and_noise_too_wide_are_refused():
    table = Invariants.margins((3, 3))
    for law in (GeneralizedGaussian(1.0), GeneralizedLaplace(1.0, "l2")):
        with pytest.raises(InputError, match="paired rows: serves laws"):
            PairedRows(table, law)
    with pytest.raises(InputError, match=r"standard deviation of 1\.41e\+06.* messages of"):
        PairedRows(table, GeneralizedLaplace(1e-6))


# -- laws of sums -----------------------------------------------------------------------------


@pytest.mark.parametrize(("cells", "epsilon"), [(1, 0.3), (2, 1.0), (7, 0.25), (40, 2.0)])
def test_the_law_of_a_sum_is_a_convolution(cells, epsilon):
    one = double_geometric_pmf(np.arange(-300, 301), math.exp(-epsilon))
    law = np.ones(1)
    for _ in range(cells):
        law = np.convolve(law, one)
    middle = len(law) // 2
    expected = law[middle : middle + 40]
    found = sum_log_law(cells, epsilon, 39)
    np.testing.assert_allclose(np.exp(found), expected / expected[0], rtol=1e-9)


@pytest.mark.parametrize("cells", [2, 6])
@pytest.mark.parametrize("total", [0, 5, 60])
def test_the_lesser_count_is_that_of_the_inverted_law(cells, total):
    rate = 0.3
    log_weight = [
        math.log(math.comb(y + cells - 1, y))
        + math.log(math.comb(y + total + cells - 1, cells - 1))
        - 2 * rate * y
        for y in range(400)
    ]
    running = np.cumsum(np.exp(np.array(log_weight) - max(log_weight)))
    running /= running[-1]
    for uniform in (0.0, 0.01, 0.3, 0.5, 0.77, 0.999):
        assert _lesser(uniform, total, cells, rate) == np.searchsorted(
            running, uniform, side="right"
        )


# -- one step ---------------------------------------------------------------------------------


def plain_draw(uniforms, pmf, least, order, goal):
    """The same draw by convolutions: laws {value: weight} of columns, pairs and what is before."""

    def convolved(one, other):
        law = {}
        for (x, p), (y, q) in product(one.items(), other.items()):
            law[x + y] = law.get(x + y, 0.0) + p * q
        return law

    def inverted(law, uniform):
        values = sorted(law)
        running = np.cumsum([law[x] for x in values])
        return values[int(np.searchsorted(running, uniform * running[-1], side="right"))]

    laws = [
        {low + i: p for i, p in enumerate(row) if p} for row, low in zip(pmf, least, strict=True)
    ]
    pairs = [order[i : i + 2] for i in range(0, len(order), 2)]
    drawn, rest = {}, goal
    for g in range(len(pairs) - 1, -1, -1):
        before, of_pair = {0: 1.0}, {0: 1.0}
        for k in [k for pair in pairs[:g] for k in pair]:
            before = convolved(before, laws[k])
        for k in pairs[g]:
            of_pair = convolved(of_pair, laws[k])
        weights = {x: p * before[rest - x] for x, p in of_pair.items() if rest - x in before}
        together = inverted(weights, uniforms[2 * g])
        rest -= together
        one, other = laws[pairs[g][0]], laws[pairs[g][-1]]
        if len(pairs[g]) == 1:
            drawn[pairs[g][0]] = together
            continue
        split = {x: p * other[together - x] for x, p in one.items() if together - x in other}
        drawn[pairs[g][0]] = inverted(split, uniforms[2 * g + 1])
        drawn[pairs[g][1]] = together - drawn[pairs[g][0]]
    return [drawn[k] for k in range(len(order))]


@pytest.mark.parametrize("columns", [1, 2, 3, 6, 7])
def test_a_draw_inverts_the_uniforms_it_is_given(columns):
    rng = np.random.default_rng(columns)
    chain = PairedRows(Invariants.margins((2, columns)), GeneralizedLaplace(1.5))
    for _ in range(5):
        state = rng.integers(-2, 3, 2 * columns)
        places = np.arange(2 * columns).reshape(2, columns)
        laws = chain.columns(state, places, np.array([1, -1]), np.zeros(columns, int))
        order, uniforms = rng.permutation(columns), rng.random(columns + 1)
        pmf, least, length, mean, _, _ = laws
        centre = np.rint(mean).astype(np.int64)
        goal = int(state[:columns].sum())
        messages = _messages(laws, centre, order)
        side = Side(pmf, length, centre, *messages, goal - int((least + centre).sum()))
        found = least + centre + draw_columns(uniforms, side, order)
        expected = plain_draw(uniforms, pmf, least.tolist(), order.tolist(), goal)
        assert found.tolist() == expected
        assert found.sum() == goal


@pytest.mark.parametrize(("columns", "most"), [(1, 1), (2, 3)])
def test_columns_reach_from_their_least_to_their_largest_values_and_no_further(columns, most):
    pmf = np.array([[0.2, 0.5, 0.3], [0.4, 0.3, 0.3]])[:columns]
    length, centre = np.full(columns, 3), np.array([1, 0])[:columns]
    nothing = np.zeros((1, 1))  # a single pair has no messages to take
    for goal, uniform in product(range(-4, 7), (0.0, 0.5, 1 - 2**-53)):
        side = Side(pmf, length, centre, nothing, nothing, goal)
        drawn = draw_columns(np.full(columns + 1, uniform), side, np.arange(columns)[::-1].copy())
        assert len(drawn) == (columns if -1 <= goal <= most else 0)
        if len(drawn):
            assert drawn.sum() == goal
            assert (drawn >= -centre).all()
            assert (drawn < length - centre).all()


def test_laws_of_columns_are_those_of_their_places():
    rate, sizes = 0.7, np.array([[1, 3], [2, 1]])
    chain = PairedRows(shared(sizes), GeneralizedLaplace(rate))
    state = np.array([4, -3, 1, 6])
    places, signs = np.array([[0, 1], [2, 3]]), np.array([1, -1])
    laws = chain.columns(state, places, signs, np.zeros(2, int))
    for k in range(2):
        x = np.arange(-60, 61)
        weight = np.ones(len(x))
        for values, m in ((x, sizes[0, k]), (state[k] + state[2 + k] - x, sizes[1, k])):
            q = sum_log_law(int(m), rate, 200)
            weight = weight * np.exp(q[np.abs(values)])
        weight /= weight.sum()
        np.testing.assert_allclose(laws.mean[k] + laws.least[k], weight @ x, atol=1e-10)
        np.testing.assert_allclose(laws.variance[k], weight @ x**2 - (weight @ x) ** 2, atol=1e-9)
        inside = slice(laws.least[k] + 60, laws.least[k] + 60 + laws.length[k])
        np.testing.assert_allclose(laws.pmf[k, : laws.length[k]], weight[inside], atol=1e-12)
        assert weight[inside].sum() > 1 - 1e-12


@pytest.mark.parametrize(("fall", "reach"), [(1.0, 20), (1.5, 13)])
def test_what_lies_beyond_the_tables_falls_on_as_before(fall, reach):
    laws = np.array([[0.0, -fall, -2 * fall]])
    state, places = np.array([9, -5]), np.array([[0], [1]])
    _, least, length, mean, _ = column_laws(
        state, places, np.array([1, -1]), np.zeros(2, int), laws, 1, np.zeros(1, int)
    )
    # of exp(-fall (|x| + |4 - x|)): level from 0 to 4, then down by twice that a unit, to 40 below
    assert (least[0], length[0]) == (-reach, 5 + 2 * reach)
    assert mean[0] == pytest.approx(2 + reach)


def test_a_goal_out_of_reach_is_an_error_and_no_draw():
    chain = PairedRows(Invariants.margins((2, 2)), GeneralizedLaplace(1.0))
    state = np.array([1000, 1000, -1000, -1000])  # off its totals
    places, signs = np.arange(4).reshape(2, 2), np.array([1, -1])
    columns = chain.columns(state, places, signs, np.zeros(2, int))
    with pytest.raises(ArithmeticError, match="cannot be redrawn"):
        chain.redraw(np.full(3, 0.5), state, places, signs, columns, np.arange(2))


# -- sweeps and pairs of chains ---------------------------------------------------------------


@pytest.mark.parametrize(
    "invariants",
    [
        Invariants.margins((2, 2)),
        Invariants.margins((5, 3)),
        Invariants.margins((6, 8)),
        FOUR,
        shared(np.array([[3, 1, 2], [1, 5, 1], [40, 1, 1]])),
    ],
)
def test_every_draw_meets_the_totals(invariants):
    chain = PairedRows(invariants, GeneralizedLaplace(0.25))
    noise = [chain.draw(np.random.default_rng(seed), sweeps=8) for seed in range(6)]
    assert (invariants.sparse @ np.array(noise).T == 0).all()
    assert len({tuple(u) for u in np.array(noise).tolist()}) > 1
    again = chain.draw(np.random.default_rng(0), sweeps=8)
    assert (again == noise[0]).all()


@pytest.mark.parametrize(("rows", "rounds"), [(2, [1]), (5, [2, 2, 1]), (8, [4, 4, 4])])
def test_a_sweep_matches_rows_of_a_random_order_in_rounds(rows, rounds):
    chain = PairedRows(Invariants.margins((rows, 9)), GeneralizedLaplace(1.0))
    rng, seen = np.random.default_rng(3), set()
    for _ in range(60):
        left = chain.steps(rng)
        assert all((places % 9 == np.arange(9)).all() for places, _ in left)
        pairs = [tuple((places[:, 0] // 9).tolist()) for places, _ in left]
        dirty = set(range(rows))  # rows left, when all that is in the first goes to the second
        for first, second in pairs:
            if first in dirty:
                dirty = dirty - {first} | {second}
        assert len(dirty) == 1
        for count in rounds:
            now, pairs = pairs[:count], pairs[count:]
            assert len({row for pair in now for row in pair}) == 2 * count
            seen |= {frozenset(pair) for pair in now}
        assert not pairs
    assert seen == {frozenset(pair) for pair in combinations(range(rows), 2)}


def test_columns_go_in_groups_of_like_numbers_of_cells_that_share_some():
    sizes = np.ones((3, 30), dtype=int) * np.repeat([1, 400], [12, 18])
    chain = PairedRows(shared(sizes), GeneralizedLaplace(0.5))
    steps = [places % 30 for places, _ in chain.steps(np.random.default_rng(1))]
    assert len(steps) == 2 * 2
    for small, large in zip(steps[::2], steps[1::2], strict=True):
        assert small[0].tolist() == list(range(17))
        assert large[0].tolist() == list(range(12, 30))
    assert [chain.step_of(places) > 1 for places, _ in chain.steps(np.random.default_rng(1))] == [
        False,
        True,
    ] * 2


# -- laws on every h-th value -----------------------------------------------------------------


def conditional_law(pmfs, goal):
    """Law of all but the last of three columns given their sum, the weights from 0 on."""
    x, y = np.meshgrid(*(np.arange(len(pmf)) for pmf in pmfs[:2]), indexing="ij")
    rest = goal - x - y
    inside = (rest >= 0) & (rest < len(pmfs[2]))
    return np.where(inside, pmfs[0][x] * pmfs[1][y] * pmfs[2][np.where(inside, rest, 0)], 0.0)


@pytest.mark.parametrize(
    ("cells", "sums"),
    [((12, 12, 12), (0, 0, 0)), ((12, 60, 300), (1, 20, -70)), ((12, 12, 12), (60, -41, 3))],
)
def test_laws_on_a_lattice_of_any_remainders_are_those_on_all_integers(cells, sums):
    sizes = np.array([cells, cells, [5000] * 3])
    chain = PairedRows(shared(sizes), GeneralizedLaplace(0.5))
    state, places, signs = np.zeros(9, np.int64), np.arange(6).reshape(2, 3), np.array([1, -1])
    state[3:6] = sums
    step = chain.step_of(places)
    assert step > 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "step_of", lambda places: 1)
        fine = chain.columns(state, places, signs, np.zeros(3, np.int64))
    goal = -int(fine.least.sum())
    exact = conditional_law([fine.pmf[k, : fine.length[k]] for k in range(3)], goal)
    exact /= exact.sum()
    lost = 0.0
    for one, other in product(range(step), repeat=2):
        remainders = np.array([one, other, -one - other]) % step
        laws = chain.columns(state, places, signs, remainders)
        goal = -int(laws.least.sum()) // step
        found = conditional_law([laws.pmf[k, : laws.length[k]] for k in range(3)], goal)
        found /= found.sum() * step**2
        low = laws.least - fine.least
        where = exact[low[0] % step :: step, low[1] % step :: step]
        at = [slice(low[k] // step, low[k] // step + found.shape[k]) for k in (0, 1)]
        lost += np.abs(where[at[0], at[1]] - found[: where.shape[0], : where.shape[1]]).sum() / 2
    assert lost < 2e-13


def test_the_longest_step_is_taken_and_rough_laws_have_none():
    def step(cells):
        return lattice_step(sum_log_law(cells, 0.25, 20 * (cells + 40)), 2, 8)

    assert step(1) == 1
    assert [step(50) < step(200), step(200) < step(800)] == [True, True]
    deviation = math.sqrt(800 * math.exp(-0.25)) / -math.expm1(-0.25)
    # for a normal law, exp(-(2 pi deviation / step)^2 / 2) is 1e-15 at 0.76 deviations
    assert 0.6 < step(800) / deviation < 0.8


def test_fibres_run_along_each_category():
    chain = PairedRows(FOUR, GeneralizedLaplace(1.0))
    rng, along = np.random.default_rng(4), set()
    for _ in range(40):
        for places, signs in chain.steps(rng):
            along.add(places.shape[1])
            for k in range(places.shape[1]):
                change = np.zeros(24, dtype=np.int64)
                change[places[:, k]] += signs
                change[places[:, 0]] -= signs
                table = change.reshape(chain.shape)
                assert not any(table.sum(axis=axis).any() for axis in range(3))
    assert along == {2, 3, 4}


def test_columns_that_differ_in_opposite_ways_stand_together():
    chain = PairedRows(Invariants.margins((4, 5)), GeneralizedLaplace(1.0))
    places, signs = np.arange(10).reshape(2, 5), np.array([1, -1])
    first = np.zeros(20, dtype=np.int64)
    second = first.copy()
    second[:5] = [6, 0, -6, -2, 2]
    sides = [chain.columns(state, places, signs, np.zeros(5, int)) for state in (first, second)]
    order = pairing(*sides).tolist()
    assert sorted(order) == list(range(5))
    assert {frozenset(order[0:2]), frozenset(order[2:4])} == {frozenset({3, 4}), frozenset({0, 2})}
    assert set(order[:2]) == {0, 2}  # the most different are drawn last, which is first here
    assert order[4] == 1


def test_chains_that_have_met_stay_together():
    chain = PairedRows(Invariants.margins((4, 5)), GeneralizedLaplace(0.5))
    rng = np.random.default_rng(5)
    second = np.zeros(20, dtype=np.int64)
    first = chain.run(rng, second, 10)
    met = False
    for _ in range(200):
        coupled_sweep(rng, chain, first, second)
        assert met <= (first == second).all()
        met = met or bool((first == second).all())
        assert not (chain.invariants.sparse @ np.stack([first, second]).T).any()
    assert met


def test_two_rows_meet_at_once(monkeypatch):
    clock = iter([10.0, 13.0])
    monkeypatch.setattr(paired_coupling.time, "perf_counter", lambda: next(clock))
    chain = PairedRows(Invariants.margins((2, 9)), GeneralizedLaplace(0.25))
    times = paired_meeting_times(np.random.default_rng(1), chain, lag=3, runs=20, cap=10)
    assert (times.tau == 4).all()
    assert times.seconds == 3
    for wrong in ({"lag": 0}, {"runs": 0}, {"cap": 3}):
        with pytest.raises(InputError, match=f"coupling: {next(iter(wrong))} must be"):
            paired_meeting_times(
                np.random.default_rng(1), chain, **{"lag": 3, "runs": 20, "cap": 10} | wrong
            )


def test_six_by_eight_meets_in_all_of_two_hundred_runs():
    chain = PairedRows(Invariants.margins((6, 8)), GeneralizedLaplace(0.25))
    times = paired_meeting_times(np.random.default_rng(2), chain, lag=4, runs=200, cap=2000)
    assert not times.censored.any()
    assert not times.uninformative.any()


def test_runs_after_one_that_is_given_up_are_not_made():
    chain = PairedRows(Invariants.margins((6, 8)), GeneralizedLaplace(0.25))
    times = paired_meeting_times(
        np.random.default_rng(2), chain, lag=30, runs=50, cap=31, all_or_none=True
    )
    assert times.censored.all()
