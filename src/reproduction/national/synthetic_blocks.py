"""Assign the persons of real counties to random tracts, block groups and blocks."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array, vstack

from isdp.constraints.hierarchy import Hierarchy
from isdp.streams import stream

BLOCKS_PER_GROUP, GROUPS_PER_TRACT = 57, 3  # close to the averages of 2010
EMPTY_SHARE = 0.4  # share of blocks without persons
BY_POPULATION = 0.6  # share of blocks allocated by population; the rest is divided equally
GAMMA_SHAPE = 0.3  # shape of the gamma weights of a tract; smaller values give more variation


def allocate_blocks(population, blocks: int) -> np.ndarray:
    """Allocate a number of blocks to counties. Each county has at least one block group."""
    population = np.asarray(population, dtype=float)
    share = BY_POPULATION * population / population.sum() + (1 - BY_POPULATION) / len(population)
    return np.maximum(BLOCKS_PER_GROUP, np.rint(share * blocks).astype(int))


def _draw_county(rng: np.random.Generator, counts, blocks: int) -> tuple[csr_array, np.ndarray]:
    """Draw the table of a county, of shape (blocks, cells), and the tract of each block."""
    tract = np.arange(blocks) // (BLOCKS_PER_GROUP * GROUPS_PER_TRACT)
    size = rng.gamma(0.8, size=blocks) * (rng.random(blocks) >= EMPTY_SHARE)
    size[rng.integers(blocks)] += 1e-3
    rows, entries, ends = [], [], [0]
    for people in counts:
        if people:
            weight = size * rng.gamma(GAMMA_SHAPE, size=tract[-1] + 1)[tract] + 1e-12 * size
            drawn = rng.multinomial(people, weight / weight.sum())
            occupied = np.flatnonzero(drawn)
            rows.append(occupied)
            entries.append(drawn[occupied])
        ends.append(ends[-1] + (len(occupied) if people else 0))
    columns = (np.concatenate(entries), np.concatenate(rows), np.array(ends))
    return csr_array(columns, shape=(len(counts), blocks)).T.tocsr(), tract


def draw_state(
    seed: int, state: str, counties: tuple[Sequence[str], np.ndarray], blocks: Sequence[int]
) -> tuple[csr_array, Hierarchy]:
    """Draw the blocks of a state. Return their table and their hierarchy from the nation down.

    `counties` are the names of the counties and an int array of shape (counties, cells). `blocks`
    is the number of blocks of each county. The table is int64 of shape (blocks, cells).
    """
    names, counts = counties
    parts, columns = [], {level: [] for level in ("county", "tract", "block group", "block")}
    for name, row, number in zip(names, counts, blocks, strict=True):
        part, tract = _draw_county(stream(seed, "synthetic blocks", name), row, int(number))
        parts.append(part)
        group = np.arange(number) // BLOCKS_PER_GROUP
        columns["county"] += [name] * len(tract)
        columns["tract"] += [f"{name}.{each}" for each in tract]
        columns["block group"] += [f"{name}..{each}" for each in group]
        columns["block"] += [f"{name}...{each}" for each in range(number)]
    table = vstack(parts).tocsr().astype(np.int64)
    columns = {"state": [state] * table.shape[0]} | columns
    return table, Hierarchy.from_columns(columns, root="nation")
