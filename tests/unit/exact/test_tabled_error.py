"""What tables of sums are off by, at 200 bits: no more than they say.

Sums are drawn as a product of laws: some types by inversion, others kept in proportion to theirs.
What is drawn is known to the last grid point of the uniforms, what is wanted by ball arithmetic;
the ratio of the two for every entry gives the distance of the laws on an enumerated lattice.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb, arb_poly, ctx

from isdp import Invariants
from isdp.exact.sums import TypeSums
from isdp.exact.tabled import CUT, TabledSums

BITS = 200
RARE = 1e-20  # chance of a sum whose lesser count may be anything


@cache
def laws_of_count(cells, rate):
    """P(y) of a sum of so many counts, from 0 on, and those of a difference of two of them."""
    with ctx.workprec(BITS):
        a = (-arb(rate.numerator) / rate.denominator).exp()
        masses = [(1 - a) ** cells]
        while len(masses) < 2 * cells or masses[-1] > arb(2) ** -(BITS - 20):
            y = len(masses)
            masses.append(masses[-1] * a * (y + cells - 1) / y)
        both = arb_poly(masses) * arb_poly(masses[::-1])
        return masses, [both[i] for i in range(2 * len(masses) - 1)]


def law_of_count(cells, rate, y):
    masses = laws_of_count(cells, rate)[0]
    return masses[y] if 0 <= y < len(masses) else arb(0)


def law_of_sum(cells, rate, s):
    masses = laws_of_count(cells, rate)[1]
    middle = len(masses) // 2
    return masses[middle + s] if abs(s) <= middle else arb(0)


class Entries:
    """One law in tables: by how much draws by inversion, and chances to keep, are off the law."""

    def __init__(self, tables, law, exact):
        part = slice(int(tables.start[law]), int(tables.start[law + 1]))
        self.low = int(tables.low[law])
        self.values = self.low + np.arange(part.stop - part.start)
        guide = tables.guide[int(tables.parts[law]) : int(tables.parts[law + 1])]
        least = np.arange(len(guide)) / len(guide)
        first = part.start + np.searchsorted(tables.cumulative[part], least, side="right")
        assert (guide <= first).all()  # the search does not go back
        # numbers j of 2^-53 j that lie below each limit, exactly
        below = np.ceil(np.append(0.0, tables.cumulative[part]) * 2.0**53)
        kept = np.ceil(tables.chance[part] * 2.0**53)
        with ctx.workprec(BITS):
            masses = [exact(v) for v in self.values.tolist()]
            whole = sum(masses, arb(0))
            top = masses[int(np.argmax(tables.chance[part]))]
            self.mass = np.array([float(mass / whole) for mass in masses])
            self.drawn = off(np.diff(below), masses, whole)
            self.kept = off(kept, masses, top)

    def at(self, values, what):
        """An array for values: the mass, or by how much it is off; all of it beyond the table."""
        inside = (values >= self.low) & (values < self.low + len(self.values))
        beyond = 0.0 if what == "mass" else -1.0
        found = getattr(self, what)[np.where(inside, values - self.low, 0)]
        return np.where(inside, found, beyond)


def off(numbers, masses, unit):
    return np.array(
        [
            float(arb(n) / 2**53 * unit / mass - 1) if mass > 0 else 0.0
            for n, mass in zip(numbers.tolist(), masses, strict=True)
        ]
    )


def joint(*shares):
    """What a product is off by, of factors that are off by so much."""
    total = np.zeros(())
    for share in shares:
        total = total + share + total * share
    return total


def distance(mass, ratio):
    """Total variation distance of a law from one whose weights are off by `ratio`."""
    mean = (mass * ratio).sum() / mass.sum()
    return min(0.5 * (mass * abs(ratio - mean)).sum() / mass.sum() / max(1 + mean, RARE), 1)


def factors(drawn, local, closing, points, of_sum, kinds, pairs):
    """What each law that sums are drawn or kept by is off by, at each point."""
    for (_, last), law in zip(drawn.types, drawn.law.tolist(), strict=True):
        yield pairs[law].at(points[last], "drawn")
    for block, (start, stop) in enumerate(zip(local.start, local.start[1:], strict=False)):
        types = local.types[start:stop]
        for t in types[:-1]:
            yield of_sum[kinds[t]].at(points[t], "drawn")
        last = types[-1]
        yield of_sum[kinds[last]].at(points[last], "kept" if local.held[block] else "drawn")
    for what, types in (("drawn", closing.free), ("kept", closing.settled)):
        for t in types:
            yield of_sum[kinds[t]].at(points[t], what)


def lesser(counts, s):
    """Distance of the lesser of two counts whose difference is s."""
    least, most = max(-s, 0), len(counts.values) - max(s, 0)
    drawn, kept = slice(least, most), slice(least + s, most + s)
    return distance(
        counts.mass[drawn] * counts.mass[kept], joint(counts.drawn[drawn], counts.kept[kept])
    )


def error_of(sums, tables, basis):
    """Bound what the tables are off by, of sums on a lattice whose points are few."""
    kinds, rate = tables._kinds, sums.epsilon
    sizes = np.unique(sums.sizes).tolist()
    wanted = [lambda s, m=m: law_of_sum(m, rate, s) for m in sizes]
    of_sum = [Entries(tables._tables, k, law) for k, law in enumerate(wanted)]
    pairs = {}
    for types, law in zip(tables._pairs.types, tables._pairs.law.tolist(), strict=True):
        one, other = (wanted[kinds[t]] for t in types)
        pairs[law] = Entries(tables._tables, law, lambda s, a=one, b=other: a(s) * b(-s))
    reach = max(-laws.low for laws in of_sum)
    steps = np.ogrid[(slice(-reach, reach + 1),) * len(basis)]
    points = [sum(map(np.multiply, steps, weights)) for weights in basis.T.tolist()]  # by type
    mass = math.prod(of_sum[k].at(values, "mass") for k, values in zip(kinds, points, strict=True))
    points, mass = [values[mass > 0] for values in points], mass[mass > 0]
    ratios = factors(tables._pairs, tables._local, tables._closing, points, of_sum, kinds, pairs)
    found = [distance(mass, joint(*ratios))]
    for k, m in enumerate(sizes):
        if m == 1:  # a sum of one cell is not shared out
            continue
        counts = Entries(tables._counts, k, lambda y, m=m: law_of_count(m, rate, y))
        for t in np.flatnonzero(kinds == k):
            least = points[t].min()
            weights = np.bincount(points[t] - least, weights=mass) / mass.sum()
            pairs_of = enumerate(weights.tolist(), int(least))
            found.append(sum(w * (lesser(counts, s) if w > RARE else 1) for s, w in pairs_of))
    return sum(found) + 4 * len(kinds) * np.exp(-CUT)  # and what lies beyond the tables


CASES = {
    "a free type": ([[0]], [[1]], [3]),
    "a pair": ([[1, 1]], [[1, -1]], [5, 2]),
    "three under one total": ([[1, 1, 1]], [[1, 0, -1], [0, 1, -1]], [1, 4, 2]),
    "a table that closes": (
        [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]],
        [[1, -1, -1, 1]],
        [3, 30, 1, 8],
    ),
    "weights": ([[1, 2, 0], [0, 1, -1]], [[2, -1, -1]], [6, 2, 2]),
}


LAWS = [("1/4", 1), ("2", 1), ("1/10", 1), ("2", 40)]
# and one with more entries than the roundings that any table has
TRIED = [*((name, *law) for name in CASES for law in LAWS), ("a free type", "1/80", 1)]


@pytest.mark.parametrize(("name", "epsilon", "many"), TRIED)
def test_tables_are_as_near_as_is_said(name, epsilon, many):
    rows, basis, sizes = CASES[name]
    sums = TypeSums(Invariants(np.array(rows)), np.array(sizes) * many, Fraction(epsilon))
    tables = TabledSums(sums)
    real = error_of(sums, tables, np.array(basis))
    assert 0 < real <= tables.error
