"""How the time of a draw, a sweep and a set-up grows with cells, constraints and 1/epsilon."""

import math

import numpy as np
import pandas as pd

from benchmarks.releases import crossing_family, six_levels, states_by_classes
from benchmarks.timing import row, seconds_a_call, timed
from isdp import GeneralizedLaplace, Invariants, draw_noise
from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.overlapping.l2_mixture import MixtureSampler
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk
from isdp.mechanisms import CrossingGaussian

EPSILON = 0.25
POINTS_OF_SLOPE = 3
DRAWS = 2000


def a_composition(cells, epsilon=EPSILON, blocks=1):
    """Time a draw under totals of equal blocks."""
    invariants = Invariants.partition(np.arange(cells) % blocks)
    rng = np.random.default_rng(1)
    law = GeneralizedLaplace(epsilon)
    return seconds_a_call(lambda: draw_noise(law, invariants, rng=rng))


def a_sweep(cells):
    """Time a coordinate sweep along the star, the Smith basis of one total."""
    walk = LatticeWalk(kernel_lattice(Invariants.total(cells)), GeneralizedLaplace(EPSILON), 0.9)
    rng, state, thin = np.random.default_rng(1), walk.init(), max(1, 10**5 // cells)
    return seconds_a_call(lambda: walk.run(rng, state, draws=1, thin=thin)) / thin


def of_types(cells):
    """Time a draw under the totals of 51 states, and of two classes across them."""
    sampler = CellClassSampler(states_by_classes(cells), GeneralizedLaplace(EPSILON))
    rng = np.random.default_rng(1)
    return seconds_a_call(lambda: sampler.sample(rng, 1))


def crossing(cells):
    """Time a draw of crossing noise for states of 40 counties, which are independent trees."""
    counties = cells // 252
    given, held = crossing_family(counties, states=-(-counties // 40))
    pairs = {("state", "total"): 2, ("cell", "total"): 3, ("cell", "cell"): 2}
    mechanism = CrossingGaussian(given.regions, given.groups, pairs)
    rng = np.random.default_rng(1)
    return seconds_a_call(lambda: draw_noise(mechanism, held, rng=rng))


def nested(cells):
    """Time a draw of nested noise with six levels."""
    mechanism, total = six_levels(cells)
    rng = np.random.default_rng(1)
    return seconds_a_call(lambda: draw_noise(mechanism, total, rng=rng))


def set_up_and_draw(sampler, invariants, mechanism):
    """Time an exact sampler's set-up and one of its draws."""
    built, set_up = timed(lambda: sampler(invariants, mechanism))
    rng = np.random.default_rng(1)
    return set_up, seconds_a_call(lambda: built.sample(rng, DRAWS)) / DRAWS


def both(panel, series, xs, measure):
    """Points of a set-up and of a draw."""
    points = []
    for x in xs:
        for part, took in zip(("set-up", "a draw"), measure(x), strict=True):
            points.append({"panel": panel, "series": f"{series}: {part}", "x": x, "y": took})
    return points


def one(panel, series, xs, measure):
    """Points of one time."""
    return [{"panel": panel, "series": series, "x": x, "y": measure(x)} for x in xs]


def curves():
    """Measure all curves.

    Returns
    -------
    DataFrame with columns panel ("cells", "constraints" or "1/epsilon"), series, x, y (seconds)
    """
    small = GeneralizedLaplace(0.5)
    TruncatedEliminationSampler(Invariants.margins((2, 3)), small).sample(
        np.random.default_rng(1), 2
    )
    sizes = [10**k for k in range(2, 7)]
    points = one("cells", "one total: a draw", sizes, a_composition)
    points += one("cells", "51 states x 2: a draw", sizes[1:], of_types)
    points += one("cells", "crossing totals, states: a draw", sizes[2:], crossing)
    points += one("cells", "nested totals, six levels: a draw", [10**5, 10**6, 7_200_000], nested)
    points += one("cells", "star chain: a sweep", sizes[:4], a_sweep)
    points += one(
        "constraints",
        "1e5 cells in k blocks: a draw",
        [1, 10, 100, 1000, 10_000],
        lambda k: a_composition(10**5, blocks=k),
    )
    points += both(
        "constraints",
        "messages, 2 x k table",
        [2, 4, 8, 16, 32],
        lambda k: set_up_and_draw(TruncatedEliminationSampler, Invariants.margins((2, k)), small),
    )
    rates = [1.0, 10.0, 100.0, 1000.0, 10_000.0]
    points += one(
        "1/epsilon",
        "one total, 1e4 cells: a draw",
        rates,
        lambda x: a_composition(10**4, 1 / x),
    )
    table = Invariants.margins((3, 3))
    points += both(
        "1/epsilon",
        "l2 mixture, 3 x 3 table",
        rates,
        lambda x: set_up_and_draw(MixtureSampler, table, GeneralizedLaplace(1 / x, "l2")),
    )
    points += both(
        "1/epsilon",
        "messages, 3 x 3 table (two open sums)",
        [1.0, 4.0, 10.0, 20.0, 40.0],
        lambda x: set_up_and_draw(TruncatedEliminationSampler, table, GeneralizedLaplace(1 / x)),
    )
    crossed = Invariants.subsets([range(8), range(8, 16), range(4, 12)], 16)
    points += both(
        "1/epsilon",
        "messages, a total across two (one open sum)",
        [1.0, 10.0, 100.0, 300.0, 1000.0],
        lambda x: set_up_and_draw(TruncatedEliminationSampler, crossed, GeneralizedLaplace(1 / x)),
    )
    return pd.DataFrame(points)


def slope(points):
    """Slope on log axes over the largest few points, where fixed costs count least."""
    last = points.sort_values("x").tail(POINTS_OF_SLOPE)
    return float(np.polyfit(np.log(last["x"]), np.log(last["y"]), 1)[0])


def slope_rows(points):
    """Rows of the table: one slope a series."""
    return [
        row(f"growth with {panel}", series, slope(part), math.nan, "slope on log axes")
        for (panel, series), part in points.groupby(["panel", "series"], sort=False)
    ]
