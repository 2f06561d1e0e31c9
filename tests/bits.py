"""The distribution of an exact draw, computed from its random bits instead of sampled.

A draw is a function of the numbers that it takes from its bit source, of 16 or 64 bits each. Every
number is split into dyadic intervals (of its high bits, or of its low bits where these matter) on
which the draw goes on alike, which is found by trying the ends and some numbers between them under
several continuations. The result is an exact probability of each value, and the probability of
what was not followed to its end.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable
from fractions import Fraction

import numpy as np

from isdp.exact.bits.source import BitSource

MAX_NUMBERS = 10_000
MAX_INTERVALS = 2_000
ZEROS = 8


class Given(BitSource):
    """A bit source of given numbers, which a continuation follows.

    The first continuation begins with zeros, on which all Bernoulli draws succeed. The others are
    pseudo-random.
    """

    def __init__(self, numbers: list[int], continuation: int):
        self.numbers, self.sizes = numbers, []
        self.rng = np.random.default_rng(continuation)
        self.zeros = len(numbers) + (0 if continuation else ZEROS)

    def _next(self, bits: int) -> int:
        at = len(self.sizes)
        self.sizes.append(bits)
        if at > MAX_NUMBERS:
            raise ValueError("the draw does not end")
        if at < len(self.numbers):
            return self.numbers[at]
        return 0 if at < self.zeros else int.from_bytes(self.rng.bytes(bits // 8), "little")

    def take(self, count: int) -> np.ndarray:
        return np.array([self._next(64) for _ in range(count)], dtype=np.uint64)

    def take_16_bit(self, count: int) -> np.ndarray:
        return np.array([self._next(16) for _ in range(count)], dtype=np.uint16)


class Explorer:
    """Follows a draw along its random numbers, from those that it has taken before.

    Parameters
    ----------
    draw : callable
        ``draw(bits)`` returns a value that can be a key.
    before : list of int
    continuations : int
    """

    def __init__(self, draw: Callable[[BitSource], Hashable], before: list[int], continuations=4):
        self.draw, self.before, self.continuations = draw, before, continuations
        self.known: dict[tuple, tuple] = {}

    def run(self, number: int, continuation: int) -> tuple:
        """The value under a continuation, and the number of random numbers that it takes."""
        key = number, continuation
        if key not in self.known:
            bits = Given([*self.before, number], continuation)
            value = self.draw(bits)
            self.known[key] = value, len(bits.sizes)
        return self.known[key]

    def outcomes(self, number: int) -> tuple:
        """The values of a number under all continuations, which tell it from others."""
        if self.run(number, 0)[1] <= len(self.before) + 1:  # nothing is left open
            return (self.run(number, 0),)
        return tuple(self.run(number, c) for c in range(self.continuations))

    def same(self, one: int, two: int) -> bool:
        return self.run(one, 0) == self.run(two, 0) and self.outcomes(one) == self.outcomes(two)

    def intervals(self, bits: int) -> list[tuple[Fraction, int]]:
        """Probabilities of the intervals of the next number, and a number of each."""
        rng = np.random.default_rng(len(self.before))
        tried = [int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(4)]
        low_bits = not all(self.same(x, x ^ 1) for x in tried)
        merged: dict[tuple, list] = {}
        left, pieces = [(0, 0)], 0
        while left:
            depth, start = left.pop()
            rest = bits - depth
            inner = {0, (1 << rest) - 1, *(int(x * 2.0**rest) for x in rng.random(1))}
            members = [start | x << depth if low_bits else start << rest | x for x in inner]
            if all(self.same(members[0], x) for x in members[1:]):
                # intervals on which the draw goes on alike are put together
                found = merged.setdefault(self.outcomes(members[0]), [Fraction(0), members[0]])
                found[0] += Fraction(1, 1 << depth)
                pieces += 1
            elif pieces > MAX_INTERVALS:
                raise ValueError("the number does not split into few dyadic intervals")
            elif low_bits:
                left += [(depth + 1, start), (depth + 1, start | 1 << depth)]
            else:
                left += [(depth + 1, 2 * start), (depth + 1, 2 * start + 1)]
        return [tuple(pair) for pair in merged.values()]


def distribution(
    draw: Callable[[BitSource], Hashable],
    smallest: float = 2.0**-50,
    longest: int = 1000,
    continuations: int = 4,
    wanted: Collection[Hashable] = (),
) -> tuple[dict[Hashable, Fraction], Fraction]:
    """Compute the probability of each value of a draw.

    Parameters
    ----------
    draw : callable
        ``draw(bits)`` returns a value that can be a key.
    smallest : float
        Numbers that come up with a smaller probability are not followed.
    longest : int
        The number of random numbers after which a draw is not followed. In rejection sampling, the
        values of the first proposal alone have the distribution of all draws, up to a factor.
    continuations : int
        More are needed where many numbers that differ lead to the same values.
    wanted : collection
        The values of interest, or none for all. A proposal of another value is not followed.

    Returns
    -------
    probabilities : dict
        Lower bounds.
    undecided : Fraction
        What they miss, all together.
    """
    decided: dict[Hashable, Fraction] = defaultdict(Fraction)
    left: list[tuple[Fraction, list[int]]] = [(Fraction(1), [])]
    while left:
        probability, numbers = left.pop()
        bits = Given(numbers, 1)
        value = draw(bits)
        if len(bits.sizes) <= len(numbers):
            decided[value] += probability
        elif wanted and draw(Given(numbers, 0)) not in wanted:
            continue
        elif probability >= smallest and len(numbers) < longest:
            explorer = Explorer(draw, numbers, continuations)
            for share, number in explorer.intervals(bits.sizes[len(numbers)]):
                left.append((probability * share, [*numbers, number]))
    return dict(decided), 1 - sum(decided.values())
