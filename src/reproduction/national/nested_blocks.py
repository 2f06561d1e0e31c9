"""Nested noise of the populations of synthetic blocks, with a term for each region of a level."""

import time
from fractions import Fraction

import numpy as np
import pandas as pd

from isdp import Invariants, draw_noise
from isdp.accounting import upper_decimal
from isdp.exact.nested.accuracy import NestedAccuracy
from isdp.mechanisms import NestedGaussian, SetTree
from isdp.streams import stream
from reproduction.data.histogram import Histogram
from reproduction.national.synthetic_blocks import (
    BLOCKS_PER_GROUP,
    GROUPS_PER_TRACT,
    allocate_blocks,
)
from reproduction.nested.systems import published_rho
from reproduction.topdown.configurations import LEVEL_PARTS

LEVELS = ("county", "tract", "block group", "block")  # the populations of the states are invariants


def draw_block_noise(seed: int, histogram: Histogram, blocks: int) -> pd.DataFrame:
    """Draw the noise of the populations of all blocks, and measure its errors by level.

    The published rho is divided among the levels in the proportions of the production settings. The
    result is the table national_nested.
    """
    counties = histogram.counties
    numbers = allocate_blocks(counties["population"], blocks)
    county = np.repeat(np.arange(len(counties)), numbers)
    place = np.arange(len(county)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    states = counties["state"].to_numpy()[county]
    group = place // BLOCKS_PER_GROUP
    began = time.process_time()
    tree = SetTree.from_columns(
        {"county": county, "tract": group // GROUPS_PER_TRACT, "block group": group}, root="nation"
    )
    whole = sum(LEVEL_PARTS[level] for level in LEVELS)
    names = dict(zip(LEVELS, tree.levels[1:], strict=True))
    shares = {level: Fraction(LEVEL_PARTS[level], whole) for level in LEVELS}
    noise = NestedGaussian(
        tree, {names[level]: 1 / (shares[level] * published_rho()) for level in LEVELS}
    )
    held = Invariants.partition(states)
    drawn = draw_noise(noise, held, rng=stream(seed, "national", "nested noise of blocks"))
    seconds = time.process_time() - began
    totals, variances = tree.totals(drawn)[0], NestedAccuracy(noise, held).variance_bounds()
    loss = upper_decimal(noise.guarantee_of(held).loss_per_person)
    rows = []
    for level in LEVELS:
        nodes = tree.level_of == tree.levels.index(names[level])
        rmse = np.sqrt(np.square(totals[nodes].astype(float)).mean())
        expected = np.sqrt(variances[nodes].mean())
        rows.append((level, int(nodes.sum()), float(shares[level]), rmse, expected, loss, seconds))
    columns = ["level", "regions", "share", "rmse_total", "expected", "loss", "seconds"]
    return pd.DataFrame(rows, columns=columns)
