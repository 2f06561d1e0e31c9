import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from isdp import InputError, Invariants
from isdp.exact import blocks, compositions
from isdp.exact.blocks import block_order, block_sizes, blocks_of, sample_blocks
from isdp.lattice.elimination import row_reduce
from tests.statistical.checks import check_mean
from tests.uncompiled import uncompiled


def generator():
    return np.random.default_rng(5)


@pytest.mark.parametrize(
    ("matrix", "labels"),
    [
        ([[1, 1, 1]], [0, 0, 0]),
        ([[0, 1, 0, 1], [1, 0, 0, 0]], [1, 0, -1, 0]),
        ([[2, 2, 0], [-1, -1, 0]], [0, 0, -1]),
        ([[0, 0], [1, 1], [1, 1], [0, 0]], [0, 0]),
        (np.zeros((0, 2), dtype=int), [-1, -1]),
        ([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], [0, 0, 1, 1]),
        ([[0, 0, 1, 1, 0], [3, 3, 3, 3, 0], [1, 1, 0, 0, 0]], [1, 1, 0, 0, -1]),
        ([[1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0]], [0, 1, 2, 2]),
        ([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 0]], [1, 1, 2, 0]),
        ([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 0, 0]], [1, 2, 1, 0, 0]),
        ([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 1, 1, 1]], [0, 0, 1, 1, 2]),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0]], None),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 2, 2]], None),
        ([[1, 1, 0], [0, 1, 1]], None),
        ([[1, 1, 1], [1, 1, 0]], [1, 1, 0]),
        ([[1, 1, 0], [1, 1, 1]], [0, 0, 1]),
        ([[1, 1, 1], [2, 1, 0]], None),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], None),
        ([[1, 2]], None),
        ([[1, -1]], None),
    ],
)
def test_blocks_are_found_and_nothing_else(matrix, labels):
    found = blocks_of(Invariants(matrix))
    assert (found is None) if labels is None else (found.tolist() == labels)


@given(st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=6))
def test_blocks_say_what_the_rows_say(matrix):
    """Wherever blocks are found, both span the same rows; nested rows are always taken."""
    labels = blocks_of(Invariants(matrix))
    if labels is not None:
        totals = [labels == block for block in range(labels.max() + 1)]
        ours = row_reduce(np.array(totals, dtype=int).reshape(-1, 6))
        assert ours.rows.tolist() == row_reduce(matrix).rows.tolist()
    sets = [{cell for cell, inside in enumerate(row) if inside} for row in matrix]
    if all(a <= b or b <= a or not a & b for a in sets for b in sets):
        assert labels is not None


def test_order_holds_every_cell_block_after_block():
    order, starts = block_order(Invariants.partition(["a", "b", None, "a", "b"]))
    assert order.tolist() == [2, 0, 3, 1, 4]
    assert starts.tolist() == [1, 3, 5]
    assert block_order(Invariants.margins((2, 2))) is None
    order, starts = block_order(Invariants(np.zeros((0, 2), dtype=int)))
    assert (order.tolist(), starts.tolist()) == ([0, 1], [2])


@pytest.mark.parametrize("cells", [[0, 1, 2], [0, 2, 5], [3, 4, 5], [1, 3, 4]])
@pytest.mark.parametrize("flip", [0, 2**64 - 1])
def test_a_draw_is_written_into_its_own_cells_alone(monkeypatch, cells, flip):
    plain = uncompiled("isdp.exact.compositions")  # Python sees every bound
    monkeypatch.setattr(plain, "lowest_bit", lambda word: (int(word) & -int(word)).bit_length() - 1)
    up, down = [7, 68], [60, 71]  # bars: the counts are 7, 60, 43 and 60, 10, 40
    rooms = [
        np.array([sum(1 << bar - 64 * k for bar in bars if bar // 64 == k) ^ flip for k in (0, 1)])
        for bars in (up, down)
    ]
    wanted = np.full(6, 99)
    wanted[cells] = [7 - 60, 60 - 10, 43 - 40]
    for module in (compositions, plain):
        bars = module.Bars(np.uint64(flip), 112)
        noise, order = np.full(6, 99), np.array([5, *cells, 0])
        places = [room.astype(np.uint64) for room in rooms]
        module._write_gaps(bars, places[0], bars, places[1], order, 1, 3, noise)
        assert (noise == wanted).all()


@pytest.mark.parametrize("epsilon", [1e-3, 0.2, 2.0])
@pytest.mark.parametrize("cells", [2, 3, 50, 2000])
def test_the_hull_lies_above_the_law_and_not_far(cells, epsilon):
    """Log weights by the logarithm of the gamma function, relative to the mode."""
    over = compositions.hull(cells, epsilon)
    sd = math.sqrt(0.5 * cells * math.exp(-epsilon)) / -math.expm1(-epsilon)
    reach = math.ceil(30 * sd) + 30
    s = np.arange(over.mode - reach, over.mode + reach + 1)
    there = np.maximum(s, 0)
    weight = 2 * (gammaln(there + cells) - gammaln(there + 1) - epsilon * there)
    weight = np.where(s < 0, -np.inf, weight - weight[s == over.mode])
    beyond = np.maximum(s - over.high.place, 0), np.maximum(over.low.place - s, 0)
    hull = np.where(beyond[0] > 0, over.high.log_height - over.high.fall * beyond[0], 0.0)
    hull = np.where(beyond[1] > 0, over.low.log_height - over.low.fall * beyond[1], hull)
    if over.low.place == 0:  # the flat top reaches down to zero
        hull[s < 0] = -np.inf
    assert (weight[s >= 0] <= hull[s >= 0] + 1e-7).all()
    masses = over.high.place - over.low.place + 1, over.low.mass, over.high.mass
    assert sum(masses) == pytest.approx(np.exp(hull).sum(), rel=1e-6)
    assert sd < 3 or np.exp(weight).sum() > 0.7 * sum(masses)


@pytest.mark.parametrize(
    ("length", "wanted"),
    [(1, 0), (2, 1), (64, 0), (64, 32), (65, 3), (1000, 500), (1000, 3), (130, 60)],
)
def test_as_many_places_are_chosen_as_are_wanted(length, wanted):
    places = np.full((length + 63) // 64, 2**64 - 1, dtype=np.uint64)
    compositions._choose(compositions.words_from(generator()), length, wanted, places)
    bits = [int(word) >> i & 1 for word in places for i in range(64)]
    assert sum(bits[:length]) == wanted
    assert not any(bits[length:])


@pytest.mark.parametrize(
    ("cells", "total", "chosen", "parts"),
    [
        (3, 7, [3, 5], [3, 1, 3]),  # two bars among nine places
        (3, 7, [0, 8], [0, 7, 0]),
        (4, 1, [2], [0, 0, 1, 0]),  # fewer units than bars: the unit is chosen
        (4, 2, [0, 4], [1, 0, 0, 1]),
        (2, 1, [1], [1, 0]),
        (3, 100, [30, 101], [30, 70, 0]),  # above LARGEST_MEAN a cell, were it not raised
    ],
)
def test_bars_among_units_are_the_parts_of_a_composition(monkeypatch, cells, total, chosen, parts):
    plain = uncompiled("isdp.exact.compositions")

    def choose(words, length, wanted, places):
        assert (length, wanted) == (total + cells - 1, min(total, cells - 1))
        places[:] = 0
        for place in chosen:
            places[place // 64] |= np.uint64(1) << np.uint64(place % 64)

    monkeypatch.setattr(plain, "_choose", choose)
    monkeypatch.setattr(plain, "LARGEST_MEAN", 1000)
    monkeypatch.setattr(plain, "lowest_bit", lambda word: (int(word) & -int(word)).bit_length() - 1)
    x = np.full(cells, -1)
    plain.compose(None, total, x, np.empty(5, dtype=np.uint64))
    assert x.tolist() == parts


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.2, 1.0, 20.0])
@pytest.mark.parametrize("cells", [1, 2, 3, 1000, 20_000])
def test_totals_are_kept_at_every_scale(cells, epsilon):
    invariants = Invariants.total(cells)
    noise = sample_blocks(generator(), invariants, epsilon, draws=5)
    assert noise.shape == (5, cells)
    assert noise.dtype == np.int64
    invariants.check(noise)
    # three cells at epsilon 0.2 are all zero once in 38 draws
    if (cells >= 1000 and epsilon <= 0.2) or (cells == 3 and epsilon <= 1e-3):
        assert (noise != 0).any(axis=1).all()
    if cells == 3 and epsilon == 0.2:
        assert noise.any()


def test_blocks_keep_their_totals_and_free_cells_are_free():
    labels = np.arange(3000) % 7
    invariants = Invariants.partition([None if label == 6 else int(label) for label in labels])
    noise = sample_blocks(generator(), invariants, 0.3, draws=4)
    invariants.check(noise)
    assert (noise[:, labels == 6].sum(axis=1) != 0).all()
    check_mean(noise[:, labels == 6], 0, np.sqrt(2 * np.exp(-0.3)) / (1 - np.exp(-0.3)))


def test_blocks_of_one_cell_and_no_freedom_at_all():
    invariants = Invariants([[1, 0, 0], [0, 1, 1]])
    noise = sample_blocks(generator(), invariants, 0.1, draws=50)
    assert not noise[:, 0].any()
    assert noise[:, 1].any()
    assert not invariants.apply(noise).any()
    assert not sample_blocks(generator(), Invariants(np.eye(3, dtype=int)), 0.1, draws=2).any()
    assert sample_blocks(generator(), Invariants(np.zeros((0, 3), dtype=int)), 0.1, draws=2).any()


def test_the_seed_decides():
    invariants = Invariants.total(200)
    first = sample_blocks(generator(), invariants, 0.01, draws=3)
    assert (first == sample_blocks(generator(), invariants, 0.01, draws=3)).all()
    assert (first != sample_blocks(np.random.default_rng(6), invariants, 0.01, draws=3)).any()


@pytest.mark.parametrize("total", [0, 1, 7, 1000, 10**13])
@pytest.mark.parametrize("cells", [2, 5, 3000])
def test_a_composition_has_its_sum_and_no_negative_part(cells, total):
    x = np.full(cells, -1, dtype=np.int64)
    room = compositions.rooms_for(len(x))[0]
    compositions.compose(compositions.words_from(generator()), total, x, room)
    assert x.sum() == total
    assert x.min() >= 0


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.2, 2.0, 20.0])
@pytest.mark.parametrize("cells", [2, 3, 1000, 10**7])
def test_weights_of_sums_have_the_error_they_claim(cells, epsilon):
    mode = compositions._mode(cells, epsilon)
    sd = math.sqrt(cells * math.exp(-epsilon)) / -math.expm1(-epsilon)
    with ctx.workprec(200):
        for delta in {round(z * sd) for z in np.linspace(-10, 10, 41)} | {1, -1}:
            if mode + delta < 0:
                continue
            high, low = mode + delta, mode
            exact = (
                arb(high + cells).lgamma()
                - arb(low + cells).lgamma()
                - arb(high + 1).lgamma()
                + arb(low + 1).lgamma()
                - arb(epsilon) * delta
            )
            error = exact - arb(compositions._log_rise(mode, delta, cells, epsilon))
            assert abs(float(error)) < 1e-10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_blocks(generator(), Invariants.margins((2, 2)), 0.5, 1), "disjoint"),
        (lambda: sample_blocks(generator(), Invariants.total(3), 0.0, 1), "positive"),
        (lambda: sample_blocks(generator(), Invariants.total(3), 0.5, -1), "draws"),
        (lambda: sample_blocks(generator(), Invariants.total(3), 0.5, True), "draws"),
        (
            lambda: sample_blocks(generator(), Invariants.total(10_000), 1e-12, 1),
            "53 bits",
        ),
        (lambda: sample_blocks(generator(), Invariants.total(1), 1e-15, 1), "larger epsilon"),
    ],
)
def test_what_is_out_of_range_is_refused(call, message):
    with pytest.raises(InputError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_cells_are_counted_by_block_those_in_none_first(monkeypatch, at_once):
    monkeypatch.setattr(blocks, "COUNTED_AT_ONCE", at_once)
    assert block_sizes(np.array([2, -1, 0, 2, 2, -1])).tolist() == [2, 1, 0, 3]
    assert block_sizes(np.array([-1, -1])).tolist() == [2]
    assert block_sizes(np.array([], dtype=np.int64)).tolist() == [0]
