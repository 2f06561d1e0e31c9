"""Distributions of exact draws, computed from all random bits: no bias above 2^-50 passes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from isdp import Invariants
from isdp.exact.bits.bernoulli import draw_bernoulli
from isdp.exact.bits.discrete_gaussian import draw_gaussian_around, draw_gaussians
from isdp.exact.bits.geometric import Geometric
from isdp.exact.bits.negative_binomial import NegativeBinomials
from isdp.exact.bits.source import BitSource, bytes_of, draw_bounded_integers
from isdp.exact.disjoint.compositions import draw_compositions
from isdp.exact.disjoint.recursive_splitting import SplittingSampler
from tests.bits import Explorer, Given, distribution
from tests.distributions import gaussian

TOP = 2**64


def exact(number) -> Fraction:
    """A ball's middle, to 100 digits and more."""
    return Fraction(str(number.mid().str(120, radius=False)))


def exp(number: Fraction) -> Fraction:
    with ctx.workprec(500):
        return exact((arb(number.numerator) / number.denominator).exp())


def check(found, expected, undecided, below):
    """Compare lower bounds of probabilities, and what is undecided, with the distribution."""
    assert 0 <= undecided < below
    for value, probability in expected.items():
        assert 0 <= probability - found.get(value, 0) <= undecided


def check_ratios(found, weights):
    """Compare the values of a first proposal with weights, up to a factor."""
    factor = found[0] / weights[0]
    for value, weight in weights.items():
        assert abs(found[value] / factor / weight - 1) < 2.0**-50


@pytest.mark.parametrize(
    ("rate", "smallest", "below"),
    [("1", 2**-50, 2**-40), ("7/3", 2**-50, 2**-40), ("1/20", 2**-15, 2**-6)],
)
def test_geometric_variables(rate, smallest, below):
    """The last rate is that of counts in two digits, of which the lower one is 0 or 1."""
    rate, geometric = Fraction(rate), Geometric(Fraction(rate))
    found, undecided = distribution(lambda bits: int(geometric.draw(bits, 1)[0]), smallest)
    law = {k: (1 - exp(-rate)) * exp(-rate * k) for k in range(30)}
    check(found, law, undecided, below)


def test_low_bits_of_geometric_variables_are_drawn_alone():
    rate, geometric = Fraction(1, 99), Geometric(Fraction(1, 99))
    found, undecided = distribution(lambda bits: int(geometric.draw_remainders(bits, 1)[0]))
    size = 1 << geometric.bits
    weights = {k: exp(-rate * k) for k in range(size)}
    total = sum(weights.values())
    assert size > 2
    check(found, {k: weight / total for k, weight in weights.items()}, undecided, 2**-50)


CHANCES = [Fraction(1, 3), Fraction(1, 2**20), Fraction(5, 7), Fraction(2**63 - 1, 2**63)]


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("off", [-(2.0**-26), 0.0, 2.0**-26])
def test_bernoulli_draws_whatever_their_doubles_are_off_by(chance, off):
    near = np.array([float(chance) + off])

    def log_chance(i):
        return (arb(chance.numerator) / chance.denominator).log()

    found, undecided = distribution(lambda bits: bool(draw_bernoulli(bits, near, log_chance)[0]))
    check(found, {True: chance, False: 1 - chance}, undecided, 2**-60)


def test_a_bernoulli_draw_of_a_probability_above_one_is_an_error():
    for near, log in ((1.001, arb(0)), (1.0, arb("1e-9"))):
        with pytest.raises(ArithmeticError):
            draw_bernoulli(Given([TOP - 1], 1), np.array([near]), lambda i, log=log: log)


@pytest.mark.parametrize(("variance", "third"), [("1/4", 1), ("5/2", 0)])
@pytest.mark.parametrize("alike", [True, False])
def test_discrete_gaussian_variables_around_a_centre(variance, third, alike):
    variance, numerators, centre = Fraction(variance), np.array([third]), Fraction(third, 3)

    def draw(bits):
        if alike:
            return int(draw_gaussian_around(bits, variance, numerators, 3)[0])
        return int(draw_gaussians(bits, [variance], [centre])[0])

    weights = {k: exp(-((k - centre) ** 2) / (2 * variance)) for k in range(-1, 3)}
    found, _ = distribution(draw, smallest=2**-24, longest=4, wanted=weights)
    check_ratios(found, weights)


def test_a_split_of_three_cells_is_kept_with_its_probability():
    """The sum of two cells is kept with a probability that depends on whether it is odd."""
    sampler, k = SplittingSampler(Invariants.total(3), gaussian("1/6")), np.arange(-30, 31)
    # all ways in which two cells add up to an even sum and to an odd one, without exp(-s^2 / (4 v))
    even, odd = (math.fsum(np.exp(-3 * (2 * k - s) ** 2 / 2)) for s in (0, 1))

    def draw(bits):
        return tuple(sampler.draw(bits, 1)[0].tolist())

    paths, shares = [[]], []
    for depth in range(4):
        following = []
        for path in paths:
            bits = Given(path, 0)
            draw(bits)
            found = Explorer(draw, path).intervals(bits.sizes[depth])
            shares += [float(share) for share, _ in found]
            following += [[*path, number] for _, number in sorted(found)[-2:]]
        paths = following
    assert min(abs(share - odd / even) for share in shares) < 1e-12


@pytest.mark.parametrize(
    ("counts", "rate"),
    [(1, "1/4"), (2, "1/4"), (40, "1/4"), (1000, "2.09"), (100, "2.3")],
)
def test_values_are_kept_in_proportion_to_the_distribution_of_a_sum_of_counts(counts, rate):
    """Under the last two rates the probabilities fall later below the mode than above it."""
    rate, law = Fraction(rate), np.array([1])
    sums = NegativeBinomials([7, counts], rate)
    weights = [math.comb(s + counts - 1, counts - 1) * exp(-rate * s) for s in range(400)]
    mode = weights.index(max(weights))
    for s in sorted({max(mode + away, 0) for away in (-16, -14, -5, -4, 0, 3, 5, 14, 16, 40)}):
        found, undecided = distribution(
            lambda bits, s=s: bool(sums.keep(bits, law, np.array([s]))[0]), 2**-45
        )
        check(found, {True: weights[s] / max(weights)}, undecided, 2**-40)


@pytest.mark.parametrize("limit", [1, 3, 5, 8, 1000, 2**40 + 1])
def test_integers_below_a_limit_are_uniform(limit):
    """Numbers beyond the last whole multiple of the limit are refused, and no others."""
    last = TOP - TOP % limit - 1
    for number in {0, limit - 1, limit, last, *range(TOP - 3, TOP)}:
        drawn = int(draw_bounded_integers(Given([number, 0], 1), np.array([limit]))[0])
        assert drawn == (number % limit if number <= last else 0)
    if last < TOP - 1:
        bits = Given([last + 1, 2], 1)
        assert int(draw_bounded_integers(bits, np.array([limit]))[0]) == 2 % limit
        assert len(bits.sizes) == 2


@pytest.mark.parametrize(("total", "cells"), [(1, 2), (2, 2), (2, 3)])
def test_compositions_are_uniform(total, cells):
    """At a rate of 30 all gaps are zero in the beginning, and what is left is to even out."""
    totals, sizes, geometric = np.array([total]), np.array([cells]), Geometric(Fraction(30))

    def draw(bits):
        return tuple(draw_compositions(bits, totals, sizes, geometric).tolist())

    found, _ = distribution(draw, smallest=2**-8, continuations=8)
    shapes = math.comb(total + cells - 1, cells - 1)
    assert len(found) == shapes
    assert float(sum(found.values())) > 0.8
    for probability in found.values():
        assert float(probability / sum(found.values()) * shapes) == pytest.approx(1, abs=1e-4)


def test_the_bit_source_gives_each_byte_once():
    def counted(at_once=0):
        state = [0]

        def source(count):
            state[0] += count // 8
            return np.arange(state[0] - count // 8, state[0], dtype="<u8").tobytes()

        return BitSource(source)

    bits, taken = counted(), []
    for count in (1, 255, 3, 600, 2):
        taken += bits.take(count).tolist()
    assert taken == list(range(861))
    bits = counted()
    assert bits.take_16_bit(5).tolist() == [0, 0, 0, 0, 1]
    assert bits.take_one() == 2


@pytest.mark.parametrize("generator", ["PCG64", "MT19937", "Philox", "SFC64"])
@pytest.mark.parametrize("half_words", [0, 1])
def test_seeded_bytes_are_those_of_the_generator(generator, half_words):
    """An odd number of 32-bit draws leaves half of a word in the generator."""
    one, other = (np.random.Generator(getattr(np.random, generator)(3)) for _ in range(2))
    for rng in (one, other):
        rng.integers(0, 10, half_words, dtype=np.uint32)
    source = bytes_of(one)
    assert source(80) + source(16) == other.bytes(80) + other.bytes(16)
    assert one.integers(0, 1000, 5).tolist() == other.integers(0, 1000, 5).tolist()
