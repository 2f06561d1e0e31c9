"""The crossing sampler: its coordinates in exact rationals, its decisions, and its refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from isdp import SYSTEM_RANDOMNESS, GeneralizedGaussian, InputError, Invariants, draw_noise
from isdp.errors import MisfitError, NoSamplerError
from isdp.exact import select_sampler
from isdp.exact.bits.bernoulli import to_ball
from isdp.exact.bits.discrete_gaussian import log_relative_mass
from isdp.exact.bits.source import BitSource
from isdp.exact.nested.compiled_crossing import log_relative_mass as compiled_log_mass
from isdp.exact.nested.crossing_sampler import CrossingSampler
from isdp.mechanisms import CrossingGaussian, SetTree
from tests.crossing_families import FAMILIES, held_totals, quadratic_form

HELD = [
    [],
    [(0, 0)],
    [(1, 0)],
    [(0, 1)],
    [(1, 1)],
    [(1, 0), (0, 1)],
    [(2, 0), (0, 2)],
    [(2, 1)],
    [(1, 2)],
]
TOP = 2**64
ONES, HALF = TOP - 1, TOP // 2


def deep():
    """Three levels of regions above 8 counties, and 5 cells: 40 dimensions."""
    columns = {"division": list("aaaabbbb"), "state": list("aaabcddd")}
    regions = SetTree.from_columns(columns, root="nation")
    groups = SetTree.from_columns({"all": [0] * 5}, root="total")
    scales = {
        ("nation", "cell"): 2,
        ("division", "total"): "7/3",
        ("division", "cell"): 3,
        ("state", "total"): "1/2",
        ("state", "cell"): "9/4",
        ("cell", "total"): 3,
        ("cell", "cell"): "11/8",
    }
    return CrossingGaussian(regions, groups, scales)


def generator(seed=5):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("pairs", HELD)
@pytest.mark.parametrize("family", [*FAMILIES, deep])
def test_the_energy_is_a_sum_of_squares_of_free_integer_coordinates(family, pairs):
    mechanism = family()
    invariants, q = held_totals(mechanism, pairs), quadratic_form(mechanism)
    sampler = CrossingSampler(invariants, mechanism)
    drawn = sampler.draw(BitSource(generator().bytes), 4)
    invariants.check(drawn)
    dimension = len(q) - np.linalg.matrix_rank(invariants.matrix)
    for noise in drawn:
        terms = sampler.terms(noise)
        assert len(terms) == dimension
        assert sum(((x - c) ** 2 / s2 for x, c, s2 in terms), Fraction(0)) == noise @ q @ noise
    assert dimension == 0 or len(np.unique(drawn, axis=0)) > 1


def test_the_coordinates_of_a_family_of_40_dimensions_are_checked():
    mechanism = deep()
    assert len(CrossingSampler(held_totals(mechanism, []), mechanism).terms([0] * 40)) == 40


@pytest.mark.parametrize("rng", [generator(), SYSTEM_RANDOMNESS])
def test_noise_for_experiments_and_for_release_has_one_sampler(rng):
    mechanism = FAMILIES[0]()
    invariants = held_totals(mechanism, [(1, 0)])
    noise = draw_noise(mechanism, invariants, n_draws=30, rng=rng)
    assert noise.shape == (30, 24)
    assert noise.any()
    invariants.check(noise)
    assert select_sampler(mechanism, invariants).error == 0
    assert draw_noise(mechanism, invariants, n_draws=0, rng=rng).shape == (0, 24)


def test_equal_seeds_give_equal_noise():
    mechanism = FAMILIES[0]()
    invariants = held_totals(mechanism, [(0, 0)])
    one, two = (draw_noise(mechanism, invariants, n_draws=9, rng=generator()) for _ in range(2))
    assert (one == two).all()


def test_each_word_is_used_once_whatever_the_size_of_the_reads(monkeypatch):
    mechanism = deep()
    sampler = CrossingSampler(held_totals(mechanism, []), mechanism)
    whole = sampler.draw(BitSource(generator().bytes), 5)
    monkeypatch.setattr("isdp.exact.nested.crossing_sampler.MAX_WORDS_PER_READ", 7)
    assert (sampler.draw(BitSource(generator().bytes), 5) == whole).all()


def margins(regions, variance):
    """Noise of regions x 2 cells under both margins, which has regions - 1 dimensions."""
    trees = [SetTree.from_columns({"all": [0] * n}) for n in (regions, 2)]
    mechanism = CrossingGaussian(*trees, {("cell", "cell"): variance})
    return CrossingSampler(Invariants.margins((regions, 2)), mechanism)


class Words(BitSource):
    """Given words, then the pattern of draws of zeros, then words for exact decisions."""

    def __init__(self, given, pattern, later):
        self.given, self.pattern, self.later = given, pattern, list(later)

    def take(self, count):
        if self.given is None:
            return np.array([self.later.pop(0) for _ in range(count)], dtype=np.uint64)
        words = [*self.given, *self.pattern * count][:count]
        self.given = None
        return np.array(words, dtype=np.uint64)


def scaled(log_probability):
    """The first 64 bits of a probability."""
    with ctx.workprec(300):
        bits = int((log_probability().exp().lower() * TOP).floor().unique_fmpz())
    return min(bits, ONES)


@pytest.mark.parametrize("pairs", HELD)
@pytest.mark.parametrize("family", [*FAMILIES, deep])
def test_every_decision_is_at_its_probability(family, pairs):
    """Words that are the first 64 bits of a probability take further bits, which accept.

    The weight of a step from the centre c is exp(-(x - c)^2 / (2 s^2)). It is accepted with this
    weight, divided by the probability exp(-steps / scale) of its proposal and by the largest ratio.
    """
    mechanism = family()
    sampler = CrossingSampler(held_totals(mechanism, pairs), mechanism)
    noise = sampler.draw(BitSource(generator().bytes), 1)
    terms, given = sampler.terms(noise[0]), []
    if len(sampler.starts) > 2:
        return  # each independent tree is accepted on its own
    words = [scaled(lambda: sum((log_relative_mass(s2, c) for _, c, s2 in terms), arb(0)))]
    for x, c, s2 in terms:
        scale, whole = Fraction(2) ** max(math.ceil(math.log2(s2 / 2) / 2), 0), math.floor(c)
        steps = x - whole - 1 if x > c else whole - x
        log = steps / scale - (x - c) ** 2 / (2 * s2)
        log += min(c - whole, whole + 1 - c) / scale - s2 / (2 * scale**2)
        words.append(scaled(lambda log=log: to_ball(log)))
        given += [HALF if x > c else 0, int(math.exp(-(steps + 0.5) / scale) * TOP), words[-1]]
    bits = Words([words[0], *given], [0, HALF, 0], [0] * len(words))
    assert (sampler.draw(bits, 1) == noise).all()
    assert len(bits.later) <= words.count(ONES)  # a probability of 1 needs none


@pytest.mark.parametrize(
    ("uniform", "later", "value"),
    [
        (scaled(lambda: arb(-1)), [0], -1),
        (scaled(lambda: arb(-1)), [ONES], 0),
        (ONES, [ONES, 0], 0),
        (0, [HALF, ONES], 0),  # 45 steps, which are not accepted
    ],
)
def test_a_geometric_variable_whose_first_64_bits_do_not_decide_takes_further_bits(
    uniform, later, value
):
    bits = Words([HALF, 0, uniform, 0], [0, HALF, 0], later)
    assert margins(2, 4).draw(bits, 1).tolist() == [[value, -value, -value, value]]


@pytest.mark.parametrize(("later", "accepted"), [([0], 1), ([ONES], 0)])
def test_an_acceptance_whose_first_64_bits_do_not_decide_takes_further_bits(later, accepted):
    """The first coordinate is 1, so that the second has the centre -1/2 and the variance 1/4."""
    probability = scaled(lambda: log_relative_mass(Fraction(1, 4), Fraction(1, 2)))
    given = [probability, HALF, HALF, 0, 0, HALF, 0]
    drawn = margins(3, 1).draw(Words(given, [0, 0, HALF, 0, 0, HALF, 0], later), 1)
    assert drawn[0, ::2].tolist() == [accepted, -accepted, 0]


@pytest.mark.parametrize("variance", ["1/100", "6/25", "1/4", "26/100", "1", "199/100", "2"])
def test_compiled_masses_are_those_of_exact_arithmetic(variance):
    for centre in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(-2, 9), Fraction(41, 8)):
        exact = float(log_relative_mass(Fraction(variance), centre))
        found = compiled_log_mass(float(Fraction(variance)), float(centre))
        assert found == pytest.approx(exact, rel=1e-12, abs=1e-15)


def nation(variance, counties=30, cells=20):
    trees = [SetTree.from_columns({"all": [0] * n}) for n in (counties, cells)]
    scales = {("root", "cell"): variance, ("cell", "cell"): variance}
    return CrossingGaussian(*trees, scales), Invariants.total(counties * cells)


def test_the_forecast_is_the_one_of_poissons_formula_and_bounds_the_proposals():
    mechanism, total = nation("0.6")
    sampler = CrossingSampler(total, mechanism)
    widths = [float(s2) for _, _, s2 in sampler.terms(np.zeros(600, dtype=np.int64))]
    forecast = math.exp(2 * sum(math.exp(-2 * math.pi**2 * s2) for s2 in widths))
    assert sampler.expected_proposals == pytest.approx(forecast, rel=0.02)
    assert 1.5 < forecast < 100


@pytest.mark.parametrize("rng", [generator(), SYSTEM_RANDOMNESS])
def test_draws_with_too_many_proposals_are_refused(rng):
    mechanism, total = nation("0.2")
    with pytest.raises(NoSamplerError, match=r"^variances: .*proposals"):
        draw_noise(mechanism, total, rng=rng)


def test_tiny_and_huge_scales_are_drawn():
    mechanism, total = nation("0.000001", 2, 2)
    assert not draw_noise(mechanism, total, n_draws=100, rng=generator()).any()
    mechanism, total = nation(10**20)
    noise = draw_noise(mechanism, total, n_draws=2, rng=generator())
    assert 10**9 < np.abs(noise).mean() < 10**11


ONE, PAIR = SetTree.from_sets([], 1), SetTree.from_columns({"all": [0, 0]}, root="root")
SHAPES = {
    "one cell": (ONE, ONE, {}, [(0, 0)]),
    "one region": (SetTree.from_columns({"all": [0]}), PAIR, {("cell", "root"): 1}, [(0, 0)]),
    "one column": (PAIR, SetTree.from_columns({"all": [0]}), {("cell", "root"): 1}, [(0, 0)]),
    "all cells held": (PAIR, PAIR, {}, [(2, 2)]),
    "both margins held": (PAIR, PAIR, {("cell", "root"): 3}, [(2, 0), (0, 2)]),
    "nothing held": (PAIR, PAIR, {("root", "root"): 3}, []),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_smallest_families_have_the_dimension_of_their_lattice(name):
    regions, groups, scales, pairs = SHAPES[name]
    mechanism = CrossingGaussian(regions, groups, {("cell", "cell"): 2, **scales})
    invariants = held_totals(mechanism, pairs)
    drawn = draw_noise(mechanism, invariants, n_draws=60, rng=generator())
    dimension = invariants.cells - np.linalg.matrix_rank(invariants.matrix)
    assert np.linalg.matrix_rank(drawn) == dimension
    variances = mechanism.query_variances(np.ones(groups.cells), invariants)
    assert ((variances >= 0) & (variances < math.inf)).all()
    assert (mechanism.guarantee_of(invariants).loss > 0) == (dimension > 0)


def test_deep_and_wide_families():
    depth = {f"level {k}": np.arange(64) // max(1, 64 >> min(k, 6)) for k in range(50)}
    deep = SetTree.from_columns(depth, root="nation")
    scales = {("cell", "cell"): 2, **{(level, "total"): 50 for level in depth}}
    groups = SetTree.from_columns({"group": [0, 0, 1, 1]}, root="total")
    drawn = draw_noise(
        CrossingGaussian(deep, groups, scales), Invariants.total(256), rng=generator()
    )
    assert drawn.any()
    wide = SetTree.from_columns({"state": np.zeros(100_000, dtype=int)}, root="nation")
    scales = {("cell", "cell"): 2, ("cell", "total"): 3, ("state", "cell"): 2}
    total = Invariants.total(400_000)
    assert draw_noise(CrossingGaussian(wide, groups, scales), total, rng=generator()).any()


def test_other_noise_and_other_invariants_are_refused():
    mechanism = FAMILIES[0]()
    total = Invariants.total(24)
    with pytest.raises(MisfitError, match=r"^crossing totals: "):
        CrossingSampler(total, GeneralizedGaussian(1))
    for rng in (generator(), SYSTEM_RANDOMNESS):
        with pytest.raises(InputError, match="invariant"):
            draw_noise(mechanism, Invariants.subsets([[0, 1]], 24), rng=rng)
        with pytest.raises(InputError, match="invariant"):
            draw_noise(mechanism, Invariants.total(23), rng=rng)
    with pytest.raises(InputError, match="lower"):
        draw_noise(mechanism, total, rng=generator(), lower=[0] * 24)
