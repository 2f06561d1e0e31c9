"""Messages by convolution: against exact sums over pairs of states, and what they do to a law."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.exact.coins import BitSource
from isdp.exact.messages import convolution, layouts, rejection, windows
from isdp.exact.messages.convolution import convolve, make_convolution
from isdp.exact.messages.layouts import Layouts
from isdp.exact.messages.loops import make_split
from isdp.exact.messages.rejection import MessageSampler
from isdp.exact.messages.sampler import DynamicSampler
from isdp.exact.messages.windows import make_plan, radius
from isdp.mechanisms.gaussian import GeneralizedGaussian
from tests.laws import l1
from tests.unit.exact.messages.test_loops import SPLITS, states

ROUNDED = 2.0**-51
MORE_SPLITS = {
    "nothing left open": (np.zeros((2, 0)), [[1], [-1]], [], [4], [6]),
    "one of two closes": (
        [[1], [0], [0], [0]],
        [[0, 1], [1, 0], [-1, 1], [0, -1]],
        [5],
        [2, 3],
        [3, 2],
    ),
    "a skew line": ([[1, 0], [0, 1], [0, 0]], [[2], [-3], [1]], [6, 7], [5, 6], [3]),
    "wider than its parts": (*SPLITS["two in each"][:2], [7, 5], [2, 1], [1, 2]),
    "windows of one state": ([[1], [0]], [[-1], [1]], [2], [0], [2]),
}
ALL_SPLITS = {**SPLITS, **MORE_SPLITS}


def split_of(name):
    given, free, half, left, right = (np.array(p, dtype=np.int64) for p in ALL_SPLITS[name])
    return given, free, make_split(given, free, half, left, right)


def pairs_by_state(given, free, split):
    """Positions of the parts' states that make up each of the union's."""
    ways = np.array(states([15] * free.shape[1]), dtype=np.int64) @ free.T
    parts = [slice(split.left), slice(split.left, None)]
    where = [{state: at for at, state in enumerate(states(split.part_half[p]))} for p in parts]
    found = []
    for x in states(split.half):
        both = given @ np.array(x, dtype=np.int64) + ways
        both = both[(np.abs(both) <= split.part_half).all(axis=1)]
        one, two = (
            [known[tuple(at)] for at in both[:, p].tolist()]
            for known, p in zip(where, parts, strict=True)
        )
        found.append(list(zip(one, two, strict=True)))
    return found


def exact_sums(pairs, left, right):
    left, right = ([Fraction(float(v)) for v in part] for part in (left, right))
    return [sum((left[i] * right[j] for i, j in of), Fraction(0)) for of in pairs]


@pytest.mark.parametrize("bits", [62, 9])
@pytest.mark.parametrize("name", ALL_SPLITS)
def test_no_entry_is_too_small_nor_larger_than_the_bound_says(name, bits, monkeypatch):
    monkeypatch.setattr(convolution, "WIDEST", bits)
    given, free, split = split_of(name)
    found = make_convolution(given, free, split.part_half, split.left)
    pairs, rng = pairs_by_state(given, free, split), np.random.default_rng(1)
    for scale in (1.0, 2.0**-90, 2.0**40):
        sizes = (
            math.prod(2 * h + 1 for h in half) for half in np.split(split.part_half, [split.left])
        )
        left, right = (scale * np.exp(-rng.exponential(9, size)) for size in sizes)
        left[0] = 0.0 if len(left) > 1 else left[0]
        message, excess = convolve(found, split, left, right)
        assert len(message) == len(pairs)
        for value, exact in zip(message.tolist(), exact_sums(pairs, left, right), strict=True):
            assert value >= exact * (1 - Fraction(ROUNDED))
            assert value <= (exact + Fraction(excess)) * (1 + Fraction(ROUNDED))


@pytest.mark.parametrize("narrow", [0, 1])
def test_the_bound_is_met_by_parts_that_are_just_above_a_quantum(narrow):
    """One part is a single state, the other wide and hardly there: each entry of it is raised."""
    given, free, split = split_of("sum of two")
    split = make_split(given, free, np.array([3]), *np.roll([np.array([3]), np.array([0])], narrow))
    found = make_convolution(given, free, split.part_half, split.left)
    wide = np.full(7, 2.0**-90)
    wide[0] = 0.5
    parts = [wide, np.array([0.5])]
    message, excess = convolve(found, split, *(parts[::-1] if narrow else parts))
    assert 0.4 * excess < message[-1] - 2.0**-91 <= excess


def test_the_bound_counts_ways_to_split_where_both_parts_are_just_above_a_quantum(monkeypatch):
    monkeypatch.setattr(convolution, "WIDEST", 2)
    given, free = np.array([[1], [0]]), np.array([[-1], [1]])
    split = make_split(given, free, *[np.array([3])] * 3)
    found = make_convolution(given, free, split.part_half, split.left)
    part = np.full(7, 2.0**-90)
    part[0] = 0.4
    message, excess = convolve(found, split, part, part)
    one_by_one = np.convolve(part, part)[3:10]
    assert 0.4 * excess < (message - one_by_one).max() <= excess


def test_no_slot_runs_over_where_all_entries_are_largest():
    half = np.array([40])
    given, free = np.array([[1], [0]]), np.array([[-1], [1]])
    split = make_split(given, free, half, half, half)
    found = make_convolution(given, free, split.part_half, split.left)
    ones = np.full(81, np.nextafter(1.0, 0.0))
    message, _ = convolve(found, split, ones, ones)
    assert message == pytest.approx(81 - np.abs(np.arange(-40, 41)), rel=1e-15)


def test_products_that_would_be_too_long_are_not_tried(monkeypatch):
    given, free, split = split_of("sum of two")
    assert make_convolution(given, free, split.part_half, split.left).places == 9
    monkeypatch.setattr(convolution, "LONGEST", 9)
    assert make_convolution(given, free, split.part_half, split.left) is not None
    monkeypatch.setattr(convolution, "LONGEST", 8)
    assert make_convolution(given, free, split.part_half, split.left) is None


# -- what they do to a law ---------------------------------------------------------------------

CROSSED = Invariants.subsets([range(4), range(4, 8), [0, 1, 4, 5]], 8)
PARITY = Invariants([[2, 1, 1, 0, 0], [0, 0, 1, 2, 3], [1, 1, 1, 1, 1]])
LATTICES = {
    "3 x 3": Invariants.margins((3, 3)),
    "crossed": CROSSED,
    "entries other than 0 and 1": PARITY,
}
LAWS = [GeneralizedLaplace(0.9), GeneralizedGaussian(1.3)]


def always(monkeypatch, bits=62):
    """Convolve wherever there is a sum, and round what goes in to so many bits."""
    monkeypatch.setattr(windows, "PLACE", 0.0)
    monkeypatch.setattr(convolution, "WIDEST", bits)


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", LATTICES)
def test_convolutions_change_nothing_that_can_be_seen(name, law, in_turn, monkeypatch):
    monkeypatch.setattr(layouts, "QUICK", -1.0 if in_turn else math.inf)
    monkeypatch.setattr(windows, "PLACE", math.inf)
    added = DynamicSampler(LATTICES[name], law)
    always(monkeypatch)
    found = DynamicSampler(LATTICES[name], law)
    assert not added._plan.convolutions
    assert found._plan.convolutions
    assert found.log_normaliser == pytest.approx(added.log_normaliser, abs=1e-14)
    assert found.truncation == added.truncation
    assert found.error == found.truncation + found.rounding
    assert found._convolved > 0
    assert in_turn or found.rounding > added.rounding + found._convolved
    draws = [sampler.sample(np.random.default_rng(1), 2_000) for sampler in (found, added)]
    assert (draws[0] == draws[1]).all()


def law_of_draws(sampler):
    """Chance of every noise, in exact arithmetic, of a sampler with one tree."""
    (nodes,), (halves,) = sampler._layout.trees, sampler._plan.halves
    messages = [sampler._messages[number].tolist() for number in sampler._plan.same[0]]
    known = {}

    def law(place, at):
        if (place, at) in known:
            return known[place, at]
        node = nodes[place]
        if node.cell >= 0:
            return {((node.cell, node.gap * (at - int(halves[place][0]))),): Fraction(1)}
        if place not in known:
            split = sampler._plan.splits[0][place]
            known[place] = pairs_by_state(node.given, node.free, split)
        weights = [
            Fraction(messages[node.left][i]) * Fraction(messages[node.right][j])
            for i, j in known[place][at]
        ]
        found = {}
        for (i, j), weight in zip(known[place][at], weights, strict=True):
            if weight:
                share = weight / sum(weights)
                for (one, p), (two, q) in itertools.product(
                    law(node.left, i).items(), law(node.right, j).items()
                ):
                    found[tuple(sorted(one + two))] = (
                        found.get(tuple(sorted(one + two)), 0) + share * p * q
                    )
        known[place, at] = found
        return found

    return law(len(nodes) - 1, 0)


@pytest.mark.parametrize("bits", [9, 14])
@pytest.mark.parametrize("law", [GeneralizedLaplace(0.8), GeneralizedGaussian(0.7)])
@pytest.mark.parametrize("held", [Invariants.total(4), Invariants.margins((2, 3)), PARITY])
def test_the_stated_distance_is_a_bound_of_the_exact_one(held, law, bits, monkeypatch):
    """With so few bits the messages are visibly off, and the law of the draws with them."""
    always(monkeypatch, bits)
    monkeypatch.setattr("isdp.exact.messages.sampler.MOST_CONVOLVED", 1.0)
    sampler = DynamicSampler(held, law, left_out=0.3)
    drawn = law_of_draws(sampler)
    monkeypatch.setattr(windows, "PLACE", math.inf)
    added = law_of_draws(DynamicSampler(held, law, left_out=0.3))
    assert set(drawn) <= set(added)
    gap = sum(abs(p - drawn.get(u, 0)) for u, p in added.items()) / 2
    assert 1e-7 < gap <= sampler._convolved < 1
    assert sampler.rounding > sampler._convolved


def test_draws_are_split_by_what_parts_weigh_and_not_by_the_convolution(monkeypatch):
    """A message at whose states the convolution is off by far: draws must not notice."""
    always(monkeypatch)
    sampler = DynamicSampler(Invariants.total(4), GeneralizedLaplace(0.5))
    before = sampler.sample(np.random.default_rng(4), 500)
    root = sampler._plan.same[0][-1]
    assert root in sampler._plan.convolutions
    sampler._messages[root] = sampler._messages[root] * 0.5
    assert (before == sampler.sample(np.random.default_rng(4), 500)).all()


def test_an_error_below_the_root_is_carried_up_to_it(monkeypatch):
    """Every union but the root is off by as much as it says, at every other state."""

    def off(found, split, left, right):
        message, _ = convolve(found, split, left, right)
        if not len(split.half):
            return message, 0.0
        excess = 0.002 * message.max()
        message[1::2] += excess
        return message, excess

    always(monkeypatch)
    monkeypatch.setattr("isdp.exact.messages.sampler.convolve", off)
    monkeypatch.setattr("isdp.exact.messages.sampler.MOST_CONVOLVED", 1.0)
    sampler = DynamicSampler(PARITY, GeneralizedLaplace(0.8), left_out=0.3)
    drawn = law_of_draws(sampler)
    monkeypatch.setattr(windows, "PLACE", math.inf)
    added = law_of_draws(DynamicSampler(PARITY, GeneralizedLaplace(0.8), left_out=0.3))
    gap = sum(abs(p - drawn.get(u, 0)) for u, p in added.items()) / 2
    assert 1e-4 < gap <= sampler._convolved < 0.5


def test_no_state_is_drawn_that_no_split_makes_up(monkeypatch):
    """Two cells add up to -2 at least, and the convolution may say more of -3."""

    def off(found, split, left, right):
        message, _ = convolve(found, split, left, right)
        return message + 1e-4, 1e-4

    always(monkeypatch)
    monkeypatch.setattr("isdp.exact.messages.sampler.convolve", off)
    monkeypatch.setattr("isdp.exact.messages.sampler.MOST_CONVOLVED", 1.0)
    sampler = DynamicSampler(Invariants.total(4), GeneralizedLaplace(0.5), lower=-1)
    (same,), (halves,), (nodes,) = sampler._plan.same, sampler._plan.halves, sampler._layout.trees
    for node, half, number in zip(nodes[:-1], halves, same, strict=False):
        if node.cell < 0:
            far = np.arange(-half[0], half[0] + 1) < -2
            assert far.any()
            assert not sampler._messages[number][far].any()
    assert sampler.sample(np.random.default_rng(1), 2000).min() == -1


def test_memory_is_that_of_messages_and_of_the_longest_product(monkeypatch):
    always(monkeypatch)
    sampler = DynamicSampler(LATTICES["3 x 3"], GeneralizedLaplace(0.9))
    longest = max(found.places for found in sampler._plan.convolutions.values())
    held = sum(message.nbytes for message in sampler._messages.values())
    assert sampler.bytes == held + windows.ROOM * longest


def test_where_convolutions_could_be_far_off_messages_are_added_up(monkeypatch):
    """Nothing may be negative, so that all is zero, which is rare for sums that may be above."""
    always(monkeypatch)
    sampler = DynamicSampler(Invariants.total(40), GeneralizedLaplace(0.2), lower=0)
    assert not sampler._plan.convolutions
    assert not sampler.sample(np.random.default_rng(1), 20).any()
    assert sampler.log_normaliser == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("bits", [62, 8])
@pytest.mark.parametrize("name", LATTICES)
def test_whole_chances_of_a_release_never_pass_2_to_the_63(name, bits, monkeypatch):
    always(monkeypatch, bits)
    sampler = MessageSampler(LATTICES[name], l1(2))
    layout, plan, messages, scales, _ = sampler.filled
    assert plan.convolutions
    for tree, splits, same in zip(layout.trees, plan.splits, plan.same, strict=True):
        for node, split, number in zip(tree, splits, same, strict=True):
            if number not in plan.convolutions:
                continue
            left, right = (messages[same[part]] for part in (node.left, node.right))
            for at, pairs in enumerate(pairs_by_state(node.given, node.free, split)):
                factor = 2.0**63 * (1 - 2.0**-30) / (messages[number][at] * scales[number])
                chances = (max(1, math.ceil(left[i] * right[j] * factor)) for i, j in pairs)
                assert sum(chances) <= 2**63


def test_a_release_whose_messages_are_convolved_draws_the_same_noise(monkeypatch):
    def draws():
        words = BitSource(np.random.default_rng(3).bytes)
        return MessageSampler(LATTICES["3 x 3"], l1("1/4")).draw(words, 200)

    monkeypatch.setattr(layouts, "QUICK", math.inf)
    before = draws()
    always(monkeypatch)
    assert (before == draws()).all()


@pytest.mark.parametrize(
    ("place", "most", "refused"),
    [(0.0, (1e6, 3.0), False), (math.inf, (1e6, 3.0), True), (0.0, (3.0, 1e6), True)],
)
def test_a_release_refuses_more_ways_to_split_than_it_can_tell_apart(
    place, most, refused, monkeypatch
):
    monkeypatch.setattr(windows, "PLACE", place)
    monkeypatch.setattr(rejection, "MOST_TERMS", most[0])
    monkeypatch.setattr(rejection, "MOST_ADDED", most[1])
    if refused:
        with pytest.raises(InputError, match="more than can be told apart"):
            MessageSampler(LATTICES["crossed"], l1(1))
    else:
        MessageSampler(LATTICES["crossed"], l1(1))


# -- growth ------------------------------------------------------------------------------------


def classes(blocks, kinds, cells):
    at = np.arange(blocks * kinds * cells).reshape(blocks, kinds, cells)
    across = [at[:, kind].ravel() for kind in range(kinds - 1)]
    return Invariants.subsets([*(block.ravel() for block in at), *across], at.size)


GROWING = {
    "nested totals and one across": (classes(4, 2, 3), 1),
    "many blocks by two classes": (classes(12, 2, 2), 1),
    "three classes": (classes(4, 3, 2), 2),
    "3 x 8 table": (Invariants.margins((3, 8)), 2),
    "4 x 4 table": (Invariants.margins((4, 4)), 3),
}


def growth(held, law, convolve):
    """Powers of 1/epsilon in products and bytes, where 1/epsilon grows from 1000 to 4000."""
    trees, found = Layouts(held, law(1.0).energy.power), []
    unbounded = np.full(held.cells, -math.inf)
    for epsilon in (1 / 1000, 1 / 4000):
        power, _, rate = law(epsilon).energy

        def plan_of(layout, allowed, power=power, rate=rate):
            coordinates = sum(len(node.scale) for tree in layout.trees for node in tree)
            factor = radius(power, rate, layout.dimension, coordinates, math.log(1e-12))
            return make_plan(layout, power, rate, factor, unbounded, allowed)

        found.append(trees.cheapest(plan_of, math.inf, convolve)[1])
        places = sum(product.places for product in found[-1].convolutions.values())
        assert found[-1].products >= windows.PLACE * places
    return [
        math.log(getattr(found[1], part) / getattr(found[0], part)) / math.log(4)
        for part in ("products", "bytes")
    ]


@pytest.mark.parametrize("law", [GeneralizedLaplace, lambda rate: GeneralizedGaussian(1 / rate)])
@pytest.mark.parametrize("name", GROWING)
def test_time_and_memory_grow_with_one_power_of_the_window_for_each_open_sum(
    name, law, monkeypatch
):
    for module in (windows, convolution):
        monkeypatch.setattr(module, "LONGEST", 2**60)
    held, sums = GROWING[name]
    products, used = growth(held, law, convolve=True)
    assert products < sums + 0.1
    assert used < sums + 0.1
    assert growth(held, law, convolve=False)[0] > sums + 0.5


def test_the_limit_lies_where_a_law_could_not_be_told_from_another(monkeypatch):
    """With so few bits convolutions are off by less than all there is, and yet by too much."""
    always(monkeypatch, 14)
    sampler = DynamicSampler(Invariants.total(4), GeneralizedLaplace(0.8), left_out=0.3)
    assert not sampler._plan.convolutions
    assert sampler._convolved == 0


def test_the_stated_distance_is_hardly_more_than_twice_the_excess(monkeypatch):
    """What falls below it twice over is dropped, so that a state is off by that much at most."""
    found = []

    def known(convolution, split, left, right):
        message, excess = convolve(convolution, split, left, right)
        found.append(excess / message.sum())
        return message, excess

    always(monkeypatch)
    monkeypatch.setattr("isdp.exact.messages.sampler.convolve", known)
    sampler = DynamicSampler(Invariants.total(2), GeneralizedLaplace(0.8))
    assert 2 * found[-1] < sampler._convolved < 2.2 * found[-1]
