import decimal
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from isdp import InputError, Invariants
from isdp.errors import NoSamplerError
from isdp.exact import coins
from isdp.exact.coins import BitSource, Geometric, _decide, _Digit, _Falling, _SumWeight, _Tosses
from isdp.exact.secure import exact_epsilon, release
from isdp.exact.staged import StagedSampler
from tests.laws import l1
from tests.unit.exact.words import packed, script

ONES = 2**64 - 1
TOP = 48  # what the first 16 of 64 bits are shifted by


def pseudo(seed=3):
    """A source of bytes that a seed decides."""
    return np.random.default_rng(seed).bytes


def spelled(*uniforms):
    """Words from which digits take so many numbers of 64 bits: 16 of each, then the other 48."""
    return *packed(*(u >> TOP for u in uniforms)), *(u << 16 & ONES for u in uniforms)


def decimal_law(rate, k, size=None):
    """P(X < k) for a geometric digit, to 80 figures and without ball arithmetic."""
    with decimal.localcontext(prec=80):
        rate = Decimal(rate.numerator) / Decimal(rate.denominator)
        whole = 1 - (-rate * size).exp() if size else Decimal(1)
        return (1 - (-rate * k).exp()) / whole


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (2, Fraction(2)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("1/3", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.192), Fraction(192, 1000)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(1), Fraction(1)),
        (1e-6, Fraction(1, 10**6)),
    ],
)
def test_epsilon_is_read_as_it_is_written(given, exact):
    assert exact_epsilon(given) == exact


@pytest.mark.parametrize(
    "given", [0, -1, "x", "1/0", None, True, float("nan"), float("inf"), 1e-20, 2000, 1j, [1]]
)
def test_what_is_no_epsilon_is_refused(given):
    with pytest.raises(InputError, match="epsilon"):
        exact_epsilon(given)


@pytest.mark.parametrize(
    ("rate", "size"),
    [(Fraction(1, 4), None), (Fraction(1, 16), None), (Fraction(20), None), (Fraction(1, 99), 16)],
)
def test_bounds_of_a_digit_are_whole_parts_of_its_law(rate, size):
    digit = _Digit(rate, size)
    expected = [int(decimal_law(rate, k + 1, size) * 2**64) for k in range(len(digit.bounds))]
    assert digit.bounds.tolist() == expected
    assert len(digit.bounds) == (size - 1 if size else len(digit.bounds))
    assert size or digit.bounds[-1] == ONES


@pytest.mark.parametrize(("rate", "size"), [(Fraction(1, 4), None), (Fraction(1, 99), 16)])
@pytest.mark.parametrize("k", [0, 3, 11])
def test_bits_that_do_not_decide_are_followed_by_more(rate, size, k):
    digit = _Digit(rate, size)
    bound = int(digit.bounds[k])
    with decimal.localcontext(prec=80):
        next_word = int((decimal_law(rate, k + 1, size) * 2**64 - bound) * 2**64)
    words = spelled(bound, bound, bound, bound, bound - 1, bound + 1)
    source = script(*words, 0, ONES, next_word - 1, next_word + 1)
    assert digit.draw(source, 6).tolist() == [k, k + 1, k, k + 1, k, k + 1]
    # the second word does not decide either
    assert digit.draw(script(*spelled(bound), next_word, 0), 1).tolist() == [k]
    assert digit.draw(script(*spelled(bound), next_word, ONES), 1).tolist() == [k + 1]


@pytest.mark.parametrize(
    ("rate", "size"), [(Fraction(1, 4), None), (Fraction(1, 16), None), (Fraction(1, 9999), 256)]
)
def test_sixteen_bits_decide_where_no_bound_begins_with_them(rate, size):
    """Every number of 16 bits: followed by zeros or by ones it is the same digit, or it is open."""
    digit = _Digit(rate, size)
    short = np.arange(1 << 16, dtype=np.uint64)
    least = digit.bounds.searchsorted(short << np.uint64(TOP))
    most = digit.bounds.searchsorted((short << np.uint64(TOP)) + np.uint64((1 << TOP) - 1))
    # a bound's own bits leave it open even where all 48 that follow them are zeros or ones
    own = np.isin(short, digit.bounds >> np.uint64(TOP))
    decided = (least == most) & ~own
    assert (digit._table[decided] == least[decided]).all()
    assert (digit._table[~decided] == coins.OPEN).all()
    opened = np.flatnonzero(~decided).tolist()
    assert 0 < len(opened) <= len(digit.bounds)
    # and the bits that an open one is followed by do decide it
    low, high = (opened[0] << TOP), (opened[0] + 1 << TOP) - 1
    found = digit.draw(script(*spelled(low, high)), 2).tolist()
    assert found == digit.bounds.searchsorted(np.array([low, high], dtype=np.uint64)).tolist()


def test_numbers_of_sixteen_bits_use_a_word_up():
    words = script(*packed(1, 2, 3, 4, 5))
    assert words.shorts(5).tolist() == [1, 2, 3, 4, 5]
    words = script(*packed(1, 2, 3, 4), 9)
    assert words.shorts(2).tolist() == [1, 2]
    assert words.one() == 9


def test_words_that_are_left_over_are_used_before_fresh_ones():
    asked = []

    def source(count):
        asked.append(count)
        return np.arange(count // 8, dtype="<u8").tobytes()

    words = BitSource(source)
    least = coins.LEAST_TAKEN
    assert words.take(least - 1).tolist() == list(range(least - 1))
    assert words.take(3).tolist() == [least - 1, 0, 1]
    assert words.take(2 * least).tolist() == [*range(2, least), *range(least + 2)]
    assert asked == [8 * least, 8 * least, 8 * (least + 2)]


def test_beyond_the_table_the_tail_goes_on():
    digit = _Digit(Fraction(1, 4))
    assert len(digit.bounds) < 200
    drawn = digit.draw(script(*spelled(ONES), ONES, 0), 1)[0]
    with decimal.localcontext(prec=80):
        assert drawn == int(Decimal(2**64).ln() * 4 + Decimal(2**64).ln() * 4)


def test_counts_in_digits_put_the_digits_together():
    geometric = Geometric(Fraction(1, 10**6))
    assert [shift for shift, _ in geometric.digits] == [0, 8, 16]
    bounds = [int(digit.bounds[9]) for _, digit in geometric.digits]
    words = [word for bound in bounds for word in spelled(bound + 1)]
    drawn = geometric.draw(script(*words), 1)
    assert drawn.tolist() == [10 + (10 << 8) + (10 << 16)]
    assert geometric.bits == 16
    assert geometric.draw_remainders(script(*words), 1).tolist() == [10 + (10 << 8)]


def test_a_coin_compares_until_it_is_decided():
    def third():
        return (arb(1) / 3).log()

    first, kept = 2**64 // 3, _Tosses(third)

    def decide(words):
        return _decide(words, words.one(), third)

    def keep(words):
        return kept.toss(words, words.one())

    for toss in (decide, keep, keep):
        assert toss(script(first - 1))
        assert not toss(script(first + 1))
        assert toss(script(first, first, first, 0))
        assert not toss(script(first, first, ONES))
    assert _Tosses(lambda: arb(0)).toss(script(), ONES)


def test_chances_are_kept_of_so_many_coins_and_each_for_its_own(monkeypatch):
    monkeypatch.setattr(coins, "REMEMBERED", 2)
    asked = []

    def one_in(parts):
        asked.append(parts)
        return -arb(parts).log()

    kept = _Tosses(one_in)
    for _ in range(2):
        for parts in (3, 5, 7):
            assert kept.toss(script(), 2**64 // parts - 1, parts)
            assert not kept.toss(script(), 2**64 // parts + 1, parts)
    assert sorted(asked) == [3, 5, 7, 7, 7, 7]


def test_a_weight_of_the_sum_is_the_rational_one():
    weight = _SumWeight(7, Fraction(1, 3))
    a = Decimal(-1) / 3
    values = []
    for s in range(60):
        ways = 1
        for j in range(1, 7):
            ways = ways * (s + j) // j
        values.append(Decimal(ways) * (a * s).exp())
    assert weight.mode == values.index(max(values))
    for s in (0, 5, weight.mode, 59):
        expected = values[s] / max(values)
        assert float(weight.log(s).exp()) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(("cells", "rate"), [(2, "1/4"), (7, "1/3"), (300, "0.07"), (40, "3")])
def test_a_sum_is_kept_with_its_chance_whatever_is_known_of_others(cells, rate):
    """Each word decides as ball arithmetic of this sum alone, and few sums ask for that."""
    weight, plain = _SumWeight(cells, Fraction(rate)), _SumWeight(cells, Fraction(rate))
    asked, log = [], weight.log
    weight.log = lambda s: asked.append(s) or log(s)
    rng = np.random.default_rng(9)
    spread = 3 * int(np.sqrt(cells) / float(Fraction(rate))) + 2
    for _ in range(600):
        s = max(0, weight.mode + int(rng.integers(-spread, spread)))
        chance = 1 << 64
        if s != weight.mode:
            with ctx.workprec(200):
                chance = int((plain.log(s).exp() * arb(2) ** 64).floor().unique_fmpz())
        for uniform in (int(rng.integers(0, 2**64, dtype=np.uint64)), chance - 2, chance + 1):
            if 0 <= uniform <= ONES:
                assert weight.toss(script(), uniform, s) == (uniform < chance)
    assert len(set(asked)) == len(asked)
    asked.clear()
    for uniform in rng.integers(0, 2**64, 300, dtype=np.uint64).tolist():
        weight.toss(script(), uniform, weight.mode + int(rng.integers(0, spread)))
    assert len(asked) < 30


def test_a_sum_on_its_bound_is_decided_by_more_bits():
    weight = _SumWeight(7, Fraction(1, 3))
    for s in (weight.mode + 2, weight.mode - 2):
        with ctx.workprec(300):
            chance = int((weight.log(s).exp() * arb(2) ** 128).floor().unique_fmpz())
        first, second = divmod(chance, 2**64)
        for _ in range(2):
            assert weight.toss(script(second - 1), first, s)
            assert not weight.toss(script(second + 1), first, s)


def test_bounds_at_numbers_bound_what_lies_between_them():
    known = _Falling()
    known.put(0, 10, 500, 510)
    known.put(1, 30, 200, 210)
    known.put(1, 20, 300, 310)
    assert known.at == [10, 20, 30]
    assert known.low == [500, 300, 200, 0]
    assert known.high == [2**64, 510, 310, 210]


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-3", "0.2", 20, 1000])
@pytest.mark.parametrize("cells", [1, 2, 3, 1000])
def test_totals_are_kept_at_every_scale(cells, epsilon):
    invariants = Invariants.total(cells)
    noise = release(invariants, epsilon, draws=3, source=pseudo())
    assert noise.shape == (3, cells)
    assert noise.dtype == np.int64
    assert not invariants.apply(noise).any()
    if cells > 2 and exact_epsilon(epsilon) < 1:
        assert noise.any()


@pytest.mark.parametrize(
    "invariants",
    [
        Invariants.partition([0, 1, None, 0, 1, 0]),
        Invariants.margins((2, 3)),
        Invariants.margins((4, 4)),
        Invariants.margins((2, 2, 2)),
        Invariants([[2, 3, 0], [4, 6, 0]]),
        Invariants([[1, 1, 1, 0], [1, -1, 0, 5]]),
    ],
)
def test_every_lattice_is_kept(invariants):
    noise = release(invariants, "1/4", draws=20, source=pseudo())
    assert not invariants.apply(noise).any()
    assert noise.any()


def test_no_freedom_left_is_zero():
    for matrix in ([[1, 0], [0, 1]], [[1, 0], [1, 1]], [[5]]):
        assert not release(Invariants(matrix), 0.1, draws=4).any()


def test_a_source_decides_and_the_system_is_the_default():
    for invariants in (Invariants.total(300), Invariants.margins((3, 3))):
        first = release(invariants, 0.01, draws=2, source=pseudo(1))
        assert (first == release(invariants, 0.01, draws=2, source=pseudo(1))).all()
        assert (first != release(invariants, 0.01, draws=2, source=pseudo(2))).any()
        assert (release(invariants, 0.01) != release(invariants, 0.01)).any()


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 10**6)])
def test_each_digit_of_a_count_has_the_law_of_its_place(epsilon):
    """The digit at 2^s counts steps of 2^s: its rate is epsilon 2^s, below its base."""
    geometric = Geometric(epsilon)
    assert len(geometric.digits) > 1
    for shift, digit in geometric.digits:
        b = np.exp(-float(epsilon) * 2**shift)
        whole = 1 if digit.size is None else 1 - b**digit.size
        assert digit.bounds[0] / 2**64 == pytest.approx((1 - b) / whole, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: release(Invariants.total(3), 0), "between"),
        (lambda: release(Invariants.total(3), 1, draws=-1), "draws"),
        (lambda: release(Invariants.total(3), 1, source=lambda count: b""), "gave 0 bytes"),
        (lambda: release(Invariants.total(10_000), "1e-12"), "more than 53 bits"),
        (lambda: release(Invariants.total(3)), "either epsilon"),
        (lambda: release(Invariants.total(3), 1, rho=1), "either epsilon"),
        (lambda: StagedSampler(Invariants.total(3), l1("1e-18")), "larger epsilon"),
    ],
)
def test_what_is_out_of_range_is_refused(call, message):
    with pytest.raises(InputError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("invariants", "epsilon", "note"),
    [
        (Invariants.margins((10, 10)), "1/4", r"may take .* tries"),
        (Invariants.margins((50, 50)), "1/4", "2500 cells"),
        (Invariants([[1, 2**33, 0], [0, 1, 2**33]]), 1, "weights beyond"),
    ],
)
def test_a_refusal_for_lack_of_a_sampler_is_short_and_its_notes_say_why(invariants, epsilon, note):
    with pytest.raises(NoSamplerError) as error:
        release(invariants, epsilon)
    said = str(error.value)
    assert len(said) < 200
    assert "rho" in said
    assert "tries" not in said
    assert any(re.search(note, one) for one in error.value.__notes__)
