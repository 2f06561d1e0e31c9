"""Random tracts, block groups and blocks for the persons of real counties."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array, vstack

from isdp.constraints.hierarchy import Hierarchy
from isdp.streams import stream

BLOCKS_PER_GROUP, GROUPS_PER_TRACT = 57, 3  # about those of 2010
EMPTY_SHARE = 0.4  # share of blocks without persons
BY_POPULATION = 0.6  # share of blocks allocated by population, the others equally
GAMMA_SHAPE = 0.3  # shape of a tract's weights per cell; smaller values give more variation


def allocate_blocks(population, blocks: int) -> np.ndarray:
    """Allocate a number of blocks to counties, at least one block group each."""
    population = np.asarray(population, dtype=float)
    share = BY_POPULATION * population / population.sum() + (1 - BY_POPULATION) / len(population)
    return np.maximum(BLOCKS_PER_GROUP, np.rint(share * blocks).astype(int))


def draw_county_blocks(
    rng: np.random.Generator, counts, blocks: int
) -> tuple[csr_array, np.ndarray]:
    """Distribute a county's cells over its blocks: csr array (blocks, cells), and their tracts."""
    tract = np.arange(blocks) // (BLOCKS_PER_GROUP * GROUPS_PER_TRACT)
    size = rng.gamma(0.8, size=blocks) * (rng.random(blocks) >= EMPTY_SHARE)
    size[rng.integers(blocks)] += 1e-3
    rows, entries, ends = [], [], [0]
    for people in counts:
        if people:
            weight = size * rng.gamma(GAMMA_SHAPE, size=tract[-1] + 1)[tract] + 1e-12 * size
            drawn = rng.multinomial(people, weight / weight.sum())
            some = np.flatnonzero(drawn)
            rows.append(some)
            entries.append(drawn[some])
        ends.append(ends[-1] + (len(some) if people else 0))
    columns = (np.concatenate(entries), np.concatenate(rows), np.array(ends))
    return csr_array(columns, shape=(len(counts), blocks)).T.tocsr(), tract


def draw_state(
    seed: int, state: str, counties: tuple[Sequence[str], np.ndarray], blocks: Sequence[int]
) -> tuple[csr_array, Hierarchy]:
    """Draw a state of some counties, given as names and an int array of shape (counties, cells).

    The table is int64 of shape (blocks, cells). The hierarchy goes from the nation to the block.
    """
    names, counts = counties
    parts, columns = [], {level: [] for level in ("county", "tract", "block group", "block")}
    for name, row, number in zip(names, counts, blocks, strict=True):
        part, tract = draw_county_blocks(stream(seed, "synthetic blocks", name), row, int(number))
        parts.append(part)
        group = np.arange(number) // BLOCKS_PER_GROUP
        columns["county"] += [name] * len(tract)
        columns["tract"] += [f"{name}.{each}" for each in tract]
        columns["block group"] += [f"{name}..{each}" for each in group]
        columns["block"] += [f"{name}...{each}" for each in range(number)]
    table = vstack(parts).tocsr().astype(np.int64)
    columns = {"state": [state] * table.shape[0]} | columns
    return table, Hierarchy.from_columns(columns, root="nation")
