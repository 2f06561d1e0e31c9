"""Steps of the chains, one by one, from proposals and acceptances that the test gives.

Scales are chosen so that an exponential is easily said: at a proposal of 1/2 a run of zeros of
length n takes an exponential just above n log 3, a step of size k one just above (k - 1) log 2.
"""

import math
from itertools import chain

import numpy as np
import pytest

from tests.uncompiled import Given, uncompiled

kernels = uncompiled("isdp.mcmc.kernels")

HALF = 0.5
P_ZERO = 1 / 3  # (1 - a) / (1 + a) at a = 1/2
LOG_A = math.log(HALF)
UP, DOWN = 0.2, 0.9  # uniforms for the sign of a step
EASY, HARD = 100.0, 0.0  # exponentials that take any climb, and none


def zeros(n):
    """Exponential for a run of n zeros before the next step."""
    return (n + 0.5) * math.log(3)


def size(k):
    """Exponential for a step of size k."""
    return (k - 0.5) * math.log(2)


def ints(*values):
    return np.array(values, dtype=np.int64)


def vectors(matrix):
    """The columns of a matrix, sparse."""
    entries = [np.flatnonzero(column) for column in np.transpose(matrix)]
    return kernels.Vectors(
        ints(0, *np.cumsum([len(rows) for rows in entries])),
        ints(*chain.from_iterable(entries)),
        ints(*chain.from_iterable(np.transpose(matrix)[j][e] for j, e in enumerate(entries))),
    )


# noise of three cells that adds up to zero: one unit from the first to the second, or to the third
JUMPS = vectors([[1, 0], [-1, 1], [0, -1]])
FREE = vectors(np.zeros((0, 2)))  # no inequality


def walk(joint, power=1, root=False, rate=1.0, proposal=HALF):
    return kernels.Walk(JUMPS, proposal, joint, power, root, rate)


class Chain:
    """A chain at some noise, and what becomes of it in given sweeps."""

    def __init__(self, noise, slack=(), walls=FREE):
        self.noise, self.walked, self.slack = ints(*noise), ints(0, 0), ints(*slack)
        self.walls = walls

    def sweep(self, how, rng, sweeps=1):
        power = how.power
        size = sum(abs(int(x)) ** power for x in self.noise)
        loop = kernels._joint_sweeps if how.joint else kernels._coordinate_sweeps
        after = loop(rng, self.noise, self.walked, self.slack, size, how, self.walls, sweeps)
        assert rng.spent
        assert after[0] == sum(abs(int(x)) ** power for x in self.noise)
        return after[1:]


# -- laws of one number -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uniform", "exponential", "step"),
    [
        (0.0, None, 0),
        (np.nextafter(P_ZERO, 0), None, 0),
        (P_ZERO, size(1), 1),
        (P_ZERO, size(3), 3),
        (np.nextafter(2 / 3, 0), size(2), 2),
        (0.5 * (1 + P_ZERO), size(1), -1),
        (0.999, size(4), -4),
    ],
)
def test_a_double_geometric_step_from_a_uniform_and_an_exponential(uniform, exponential, step):
    rng = Given([uniform], [] if exponential is None else [exponential])
    assert kernels._double_geometric(rng, P_ZERO, LOG_A) == step
    assert rng.spent


@pytest.mark.parametrize(
    ("uniform", "exponential", "step"),
    [(0.0, 0.0, 1), (0.4999, size(1), 1), (0.5, size(1), -1), (0.6, size(2), -2), (0.1, 9.1, 14)],
)
def test_a_step_that_is_not_zero(uniform, exponential, step):
    assert kernels._nonzero_step(Given([uniform], [exponential]), 1 / math.log(2)) == step


def test_a_run_of_zeros_is_cut_at_the_last_vector():
    scale = 1 / math.log(3)
    lengths = [kernels._zeros(Given([], [zeros(n)]), scale, 3) for n in range(6)]
    assert lengths == [0, 1, 2, 3, 3, 3]


def test_the_scales_are_those_of_the_double_geometric_law():
    """P(step = k, given that it is not 0) falls by a; P(0) = (1 - a) / (1 + a)."""
    step, run = kernels._scales(0.25)
    assert math.exp(-1 / step) == pytest.approx(0.25)
    assert math.exp(-1 / run) == pytest.approx(0.75 / 1.25)


def test_the_rise_of_the_energy_by_hand():
    assert kernels._rise(9, 7, False, 0.5) == 3.5
    assert kernels._rise(9, 7, True, 0.5) == 0.5  # from 3 to 4
    assert kernels._rise(9, -9, True, 2.0) == -6
    assert [kernels._growth(-2, 3, power) for power in (1, 2)] == [1, 5]
    assert kernels._vector_growth(ints(2, -1, 0), 0, 2, JUMPS.indices, JUMPS.data, -3, 1) == 0
    assert kernels._vector_growth(ints(2, -1, 0), 0, 2, JUMPS.indices, JUMPS.data, -3, 2) == 0
    assert kernels._vector_growth(ints(2, -1, 0), 2, 4, JUMPS.indices, JUMPS.data, 2, 2) == 4
    assert kernels._jump_growth(ints(2, -1, 0), ints(1, 2, -3), 1) == 4
    assert kernels._jump_growth(ints(2, -1, 0), ints(1, 2, -3), 2) == 14


@pytest.mark.parametrize(
    ("rise", "exponential", "taken"),
    [(-1.0, None, True), (0.0, None, True), (1.0, 1.01, True), (1.0, 0.99, False)],
)
def test_metropolis_rule_downhill_always_uphill_by_chance(rise, exponential, taken):
    rng = Given([], [] if exponential is None else [exponential])
    assert kernels.metropolis(rng, rise) == taken
    assert rng.spent


# -- one chain --------------------------------------------------------------------------------


def test_a_joint_jump_along_both_vectors_is_taken_whole():
    one = Chain([0, 0, 0])
    rng = Given([UP, DOWN], [zeros(0), size(2), zeros(0), size(1), zeros(0), EASY])
    assert one.sweep(walk(joint=True), rng) == (1, 1)
    assert one.noise.tolist() == [2, -3, 1]
    assert one.walked.tolist() == [2, -1]


def test_a_joint_jump_that_is_refused_leaves_no_trace():
    one = Chain([5, -5, 0])
    rng = Given([UP, UP], [zeros(0), size(2), zeros(0), size(1), zeros(0), HARD])
    assert one.sweep(walk(joint=True), rng) == (1, 0)
    assert one.noise.tolist() == [5, -5, 0]
    assert one.walked.tolist() == [0, 0]


def test_a_joint_sweep_may_skip_vectors_and_propose_nothing():
    one = Chain([0, 0, 0])
    rng = Given([UP, DOWN], [zeros(2), zeros(1), size(1), zeros(0), EASY, zeros(5), zeros(0)])
    rng.exponentials += [size(1), zeros(1), EASY]
    assert one.sweep(walk(joint=True), rng, sweeps=4) == (2, 2)
    assert one.walked.tolist() == [-1, 1]
    assert one.noise.tolist() == [-1, 2, -1]


@pytest.mark.parametrize("joint", [True, False])
def test_a_jump_downhill_asks_for_no_chance(joint):
    one = Chain([5, -5, 0])
    rng = Given([DOWN], [zeros(0), size(3), zeros(1)])
    assert one.sweep(walk(joint), rng) == (1, 1)
    assert one.noise.tolist() == [2, -2, 0]


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize(
    ("law", "climb"),
    [
        ({"power": 1}, 2.0),
        ({"power": 1, "rate": 0.25}, 0.5),
        ({"power": 2, "rate": 0.5}, 7.0),  # from 3^2 + 3^2 to 4^2 + 4^2
        ({"power": 2, "root": True}, math.sqrt(32) - math.sqrt(18)),
    ],
)
def test_a_climb_is_taken_just_where_the_exponential_exceeds_it(joint, law, climb):
    for beyond, taken in ((1e-9, 1), (-1e-9, 0)):
        one = Chain([3, -3, 0])
        chances = [zeros(0), size(1), climb + beyond, zeros(1)]
        if joint:
            chances[2:] = chances[:1:-1]  # the acceptance stands behind the whole jump
        assert one.sweep(walk(joint, **law), Given([UP], chances)) == (1, taken)
        assert one.noise.tolist() == [3 + taken, -3 - taken, 0]


def test_coordinate_steps_are_taken_one_by_one():
    one = Chain([0, 0, 0])
    chances = [zeros(0), size(2), EASY, zeros(0), size(1), HARD, zeros(0)]
    chances += [zeros(1), size(3), EASY, zeros(0)]
    assert one.sweep(walk(joint=False), Given([UP, DOWN, DOWN], chances), sweeps=2) == (3, 2)
    assert one.walked.tolist() == [2, -3]
    assert one.noise.tolist() == [2, -5, 3]


# the first cell is at most 2, the second plus the third at least -3
WALLS = vectors([[-1, 0], [-1, 0]])


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize(
    ("sign", "length", "inside"), [(UP, 2, True), (UP, 3, False), (DOWN, 9, True)]
)
def test_a_wall_bears_a_jump_up_to_it_and_none_beyond(joint, sign, length, inside):
    one = Chain([0, 0, 0], slack=(2, 3), walls=WALLS)
    chances = [zeros(0), size(length), EASY, zeros(1)]
    if joint:
        chances[2:] = [zeros(1), EASY]
    if not inside:
        chances.remove(EASY)  # nothing is tossed for what is not allowed
    assert one.sweep(walk(joint), Given([sign], chances)) == (1, int(inside))
    step = (length if sign == UP else -length) * inside
    assert one.noise.tolist() == [step, -step, 0]
    assert one.slack.tolist() == [2 - step, 3 - step]


def test_a_refused_joint_jump_gives_its_slack_back():
    one = Chain([0, 0, 0], slack=(5, 6), walls=vectors([[-1, 2], [-1, 0]]))
    rng = Given([UP, UP], [zeros(0), size(2), zeros(0), size(3), zeros(0), HARD])
    assert one.sweep(walk(joint=True), rng) == (1, 0)
    assert one.slack.tolist() == [5, 6]


@pytest.mark.parametrize("joint", [True, False])
def test_a_run_keeps_every_thinned_state_and_counts_all_jumps(joint):
    noise, walked = ints(0, 0, 0), ints(0, 0)
    kept = np.empty((3, 3), dtype=np.int64)
    step = [zeros(0), size(1), zeros(1), EASY] if joint else [zeros(0), size(1), EASY, zeros(1)]
    rng = Given([UP] * 4, step * 4)
    thins = ints(3, 0, 1)
    end = kernels.run_chain(rng, noise, walked, ints(), 0, walk(joint), FREE, thins, kept)
    assert end == (8, 4, 4)
    assert kept.tolist() == [[3, -3, 0], [3, -3, 0], [4, -4, 0]]
    assert noise.tolist() == [4, -4, 0]


# -- two chains -------------------------------------------------------------------------------

A = 0.5
POWERS = np.append(A ** np.arange(60.0), 0.0)


def coupled(apart, uniforms, exponentials=()):
    rng = Given(uniforms, exponentials)
    pair = kernels.coupled_double_geometric(rng, apart, POWERS, P_ZERO, LOG_A)
    assert rng.spent
    return pair


def test_chains_that_are_together_are_given_one_step():
    assert coupled(0, [0.0]) == (0, 0)
    assert coupled(0, [0.9], [size(2)]) == (-2, -2)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_even_distance_is_closed_around_the_middle(sign):
    """The laws around 0 and 4 share a^2 = 1/4, which is the law around 2, times 1/4."""
    assert coupled(4 * sign, [0.2499, 0.1]) == (2 * sign, -2 * sign)
    assert coupled(4 * sign, [0.0, 0.5], [size(3)]) == (5 * sign, sign)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_odd_distance_is_closed_on_either_side_of_the_middle(sign):
    """Around 0 and 3 they share 2 a^2 / (1 + a) = 1/3, the halves falling away from 2 and 1."""
    inside = 0.333
    assert coupled(3 * sign, [inside, 0.0]) == (2 * sign, -sign)
    assert coupled(3 * sign, [inside, 0.26]) == (3 * sign, 0)  # 1 - 2 r between a and a^2
    assert coupled(3 * sign, [inside, 0.5]) == (sign, -2 * sign)
    assert coupled(3 * sign, [inside, 0.76]) == (0, -3 * sign)


def law(k):
    return P_ZERO * A ** abs(k)


@pytest.mark.parametrize("distance", [1, 2, 3, 4, 7, 10])
def test_what_is_not_shared_is_split_by_what_is_left_of_the_law(distance):
    """Inverse of the distribution: down from 0, -1, ..., then up to half the distance."""
    beyond = {k: law(k) - law(k - distance) for k in range(-40, distance) if 2 * k < distance}
    mass = sum(beyond.values())
    order = [*range(0, -40, -1), *(k for k in range(1, distance) if 2 * k < distance)]
    start = 0.0
    for k in order:
        for r in (start + 1e-3 * beyond[k], start + 0.999 * beyond[k]):
            found = kernels._unshared(Given([r / mass]), distance, mass, POWERS, P_ZERO, LOG_A)
            assert found == k or beyond[k] < 1e-11
        start += beyond[k]


def test_apart_each_chain_takes_a_step_of_its_own():
    """At 2 apart the shares are 1/2; what is left of each law is at 0, -1, -2, ..."""
    down = [0.51, 0.01, 0.6]  # 1 - 0.6 lies between 1/4 and 1/2
    assert coupled(2, down) == (0, 1)
    assert coupled(-2, down) == (0, -1)
    assert coupled(2, [0.51, 0.6, 0.01]) == (-1, 0)


def test_far_apart_nothing_is_shared_and_each_step_follows_the_law_itself():
    """The table of powers ends in a zero that stands for all that is further away."""
    assert coupled(10**6, [0.0, 0.1, 0.99]) == (0, -6)  # 2/3 + 1/6 + ... + 1/96 exceeds 0.99


class Pair:
    """Two chains, `apart` in their coordinates, and a coupled sweep of both."""

    def __init__(self, first, second, apart):
        self.first, self.second, self.apart = ints(*first), ints(*second), ints(*apart)

    def sweep(self, how, uniforms, exponentials=()):
        rng = Given(uniforms, exponentials)
        sizes = ints(*self._sizes(how.power))
        room = kernels.Scratch(np.ones((2, 3), np.int64), np.ones((2, 2), np.int64), POWERS)
        met = kernels.coupled_sweeps(rng, self.first, self.second, self.apart, sizes, how, room, 1)
        assert rng.spent
        assert met == (not self.apart.any())
        assert sizes.tolist() == self._sizes(how.power)
        return self.first.tolist(), self.second.tolist(), self.apart.tolist()

    def _sizes(self, power):
        return [int((np.abs(x) ** power).sum()) for x in (self.first, self.second)]


SURE, NEVER = 1e-300, 1 - 1e-9  # uniforms of an acceptance that take any climb, and none


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_chains_that_are_apart_meet_where_they_are_sent(joint, sign):
    """The second is 4 steps ahead along the first vector: both are sent to the middle."""
    pair = Pair([0, 0, 0], [4 * sign, -4 * sign, 0], [4 * sign, 0])
    meeting = [0.2, 0.1]  # shared, and the middle itself
    stay = [0.1]  # the second coordinate: together, no step
    uniforms = [*meeting, *stay, SURE] if joint else [*meeting, SURE, *stay, SURE]
    there = [2 * sign, -2 * sign, 0]
    assert pair.sweep(walk(joint), uniforms) == (there, there, [0, 0])


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_shared_chance_may_move_one_chain_and_not_the_other(joint, sign):
    """Sent to the middle, the one further out comes downhill and the one at zero would climb."""
    pair = Pair([0, 0, 0], [4 * sign, -4 * sign, 0], [4 * sign, 0])
    uniforms = [0.2, 0.1, 0.1, NEVER] if joint else [0.2, 0.1, NEVER, 0.1, NEVER]
    one = [0, 0, 0]
    two = [2 * sign, -2 * sign, 0]
    assert pair.sweep(walk(joint), uniforms) == (one, two, [2 * sign, 0])
    pair = Pair([4 * sign, -4 * sign, 0], [0, 0, 0], [-4 * sign, 0])
    assert pair.sweep(walk(joint), uniforms) == (two, one, [-2 * sign, 0])


@pytest.mark.parametrize("joint", [True, False])
def test_chains_that_are_together_take_each_step_together(joint):
    pair = Pair([0, 0, 0], [0, 0, 0], [0, 0])
    steps = [0.9, 0.5]  # down along the first vector, up along the second
    uniforms = [*steps, SURE] if joint else [steps[0], SURE, steps[1], SURE]
    there = [-2, 3, -1]
    assert pair.sweep(walk(joint), uniforms, [size(2), size(1)]) == (there, there, [0, 0])


@pytest.mark.parametrize(
    ("law", "climb"),
    [
        ({"power": 1, "rate": 0.25}, 0.5),
        ({"power": 2, "rate": 0.125}, 0.25),
        ({"power": 2, "root": True}, math.sqrt(2)),
    ],
)
def test_a_chance_is_compared_with_the_fall_of_the_weight(law, climb):
    """From zero one step along the first vector: two cells of size 1."""
    for factor, there in ((0.999, [1, -1, 0]), (1.001, [0, 0, 0])):
        pair = Pair([0, 0, 0], [0, 0, 0], [0, 0])
        chance = factor * math.exp(-climb)
        after = pair.sweep(walk(False, **law), [0.5, chance, 0.1, SURE], [size(1)])
        assert after == (there, there, [0, 0])


@pytest.mark.parametrize("joint", [True, False])
def test_two_chains_from_zero_meet_behind_the_lag(joint):
    """The first moves by 4 in the lag; at lag + 1 both stay, at lag + 2 they meet in the middle."""
    room = kernels.Scratch(np.zeros((2, 3), np.int64), np.zeros((2, 2), np.int64), POWERS)
    lead = [zeros(0), size(4), zeros(1), EASY] if joint else [zeros(0), size(4), EASY, zeros(1)]
    stay, meeting, idle = [0.9, 0.01, 0.01], [0.2, 0.1], [0.1]
    if joint:
        first, second = [*stay, *idle, SURE], [*meeting, *idle, SURE]
    else:
        first, second = [*stay, SURE, *idle, SURE], [*meeting, SURE, *idle, SURE]
    for cap, sweeps, met in ((9, [*first, *second], 5), (5, [*first, *second], 5), (4, first, -1)):
        rng = Given([UP, *sweeps], [*lead, zeros(2), zeros(2)])
        found = kernels.meet(rng, ints(0, 0, 0), walk(joint), FREE, room, 3, cap)
        assert found == (met, 1)
        assert rng.spent


# -- independent proposals --------------------------------------------------------------------

# double geometric at a = 1/2: a sixth each at -2 and further, -1, 1, 2 and further, a third at 0
TABLE = kernels.Table(
    cumulative=np.array([1 / 6, 1 / 3, 2 / 3, 5 / 6, 1]), guide=ints(0, 1, 2, 3), scale=1 / -LOG_A
)
PLACES = {-2: 0.1, -1: 0.2, 0: 0.5, 1: 0.7, 2: 0.9}  # uniforms for a value

# cells 0 and 1 are drawn; cell 2 is their sum, negated; cell 0 is at least -2, cell 2 at least -3,
# and cell 1 minus cell 2 at least -4
PROPOSALS = kernels.Proposals(
    free=ints(0, 1),
    solved=ints(2),
    stages=ints(0, 2, 2),
    offset=ints(0),
    follow=vectors([[-1], [-1], [0]]),
    floor=ints(-2, -(2**62), -3),
    gap=1.0,
    others=vectors([[0], [1], [-1]]),
    least=ints(-4),
    rate=math.log(2),
    table=TABLE,
)
ENERGY = kernels.Walk(JUMPS, HALF, True, 1, False, math.log(2))


def proposed(*values):
    """Uniforms and exponentials for a proposal with none refused before it."""
    beyond = [abs(value) - 2 for value in values if abs(value) >= 2]
    uniforms = [PLACES[max(-2, min(value, 2))] for value in values]
    return uniforms, [0.5, *((k + 0.5) * math.log(2) for k in beyond)]


@pytest.mark.parametrize(
    ("edge", "value"), [(1 / 6, -1), (1 / 4, -1), (1 / 3, 0), (1 / 2, 0), (2 / 3, 1)]
)
def test_a_value_begins_where_the_one_below_ends(edge, value):
    assert kernels._looked_up(Given([edge]), TABLE) == value
    below = value - 1 if edge in TABLE.cumulative else value
    exponentials = [0.1] if below == -2 else []
    assert kernels._looked_up(Given([np.nextafter(edge, 0)], exponentials), TABLE) == below


@pytest.mark.parametrize("k", [0, 1, 5])
def test_beyond_the_table_the_law_goes_on(k):
    for u, sign in ((0.0, -1), (0.9, 1)):
        for inside in (k + 0.01, k + 0.99):
            rng = Given([u], [inside * math.log(2)])
            assert kernels._looked_up(rng, TABLE) == sign * (2 + k)


class Independent:
    """A chain of independent proposals that starts at some noise."""

    def __init__(self, *noise):
        self.noise = ints(*noise)

    def run(self, cells, chances, thin=1, energy=ENERGY):
        uniforms, exponentials = [], []
        for free, chance in zip(cells, chances, strict=True):
            uniforms += proposed(*free)[0]
            exponentials += proposed(*free)[1] + ([] if chance is None else [chance])
        return self.given(Given(uniforms, exponentials), len(cells) // thin, thin, energy)

    def given(self, rng, draws, thin, energy=ENERGY, proposals=PROPOSALS):
        kept = np.empty((draws, 3), dtype=np.int64)
        start = int((np.abs(self.noise) ** energy.power).sum())
        end, accepted = kernels.run_independence(
            rng, self.noise, start, proposals, energy, thin, kept
        )
        assert rng.spent
        assert end == (np.abs(self.noise) ** energy.power).sum()
        return kept.tolist(), accepted


@pytest.mark.parametrize(
    ("cells", "chance"),
    [
        ((2, 2), None),  # the solved cell is -4, below its floor
        ((-1, -2), None),  # -2 - 3 is below the other inequality
        ((1, 1), HARD),  # refused by the rule
    ],
)
def test_a_proposal_that_is_not_allowed_leaves_the_chain(cells, chance):
    assert Independent(1, 0, -1).run([cells], [chance]) == ([[1, 0, -1]], 0)


def test_a_cell_below_its_floor_is_drawn_again():
    assert Independent(0, 0, 0).run([(-3, -4, 1, 1)], [EASY]) == ([[1, 1, -2]], 1)


def test_proposals_that_are_refused_for_a_free_cell_are_counted_and_not_drawn():
    uniforms, _ = proposed(1, 1)
    more, exponentials = proposed(2, 1)
    # of 7 proposals the third is taken and the fourth refused, and none is drawn after it
    rng = Given([*uniforms, *more], [2.5, EASY, *exponentials, HARD, 3.0])
    assert Independent(0, 0, 0).given(rng, 1, 7) == ([[1, 1, -2]], 1)
    # the count starts anew with every state that is kept
    rng = Given(uniforms, [9.9, 1.5, EASY])
    assert Independent(0, 0, 0).given(rng, 2, 2) == ([[0, 0, 0], [1, 1, -2]], 1)


def test_a_solved_cell_that_is_known_early_ends_the_proposal():
    early = PROPOSALS._replace(stages=ints(0, 1, 2), follow=vectors([[-2], [0], [0]]))
    uniforms, exponentials = proposed(2)
    assert Independent(0, 0, 0).given(Given(uniforms, exponentials), 1, 1, proposals=early) == (
        [[0, 0, 0]],
        0,
    )
    rng = Given(proposed(1, 1)[0], [0.5, EASY])
    assert Independent(0, 0, 0).given(rng, 1, 1, proposals=early) == ([[1, 1, -2]], 1)


@pytest.mark.parametrize("cells", [(-2, 1), (2, 1), (0, -2), (-2, 0)])
def test_a_proposal_on_the_very_edge_is_allowed(cells):
    there = [*cells, -sum(cells)]
    assert Independent(0, 0, 0).run([cells], [EASY]) == ([there], 1)


@pytest.mark.parametrize(
    ("power", "climb"),
    [
        (1, 2),  # 6 against 2 in size, 3 against 1 in the proposal
        (2, 10),  # 14 against 2 in size
    ],
)
def test_the_rule_weighs_the_target_against_the_proposal(power, climb):
    energy = ENERGY._replace(power=power)
    for beyond, taken in ((1e-9, 1), (-1e-9, 0)):
        one = Independent(1, 0, -1)
        rise = math.log(2) * climb
        kept, accepted = one.run([(2, 1)], [rise + beyond], energy=energy)
        assert (kept, accepted) == ([[2, 1, -3] if taken else [1, 0, -1]], taken)


def test_a_step_that_was_taken_is_what_the_next_is_weighed_against():
    one = Independent(0, 0, 0)
    climb = math.log(2)  # size 2 against 0, proposal 1 against 0
    back = [(1, 0), (1, 0), (0, 0), (1, 0)]
    assert one.run(back, [climb + 1e-9, None, None, climb - 1e-9], thin=2) == (
        [[1, 0, -1], [0, 0, 0]],
        3,
    )
