"""Made-up files of demonstration data in the layout of NHGIS."""

from itertools import combinations

import numpy as np
import pandas as pd

from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from tests import ROOT


def demonstration_csv(counts):
    """Tables P8 to P11 with their subtotals, as NHGIS lays them out, from a histogram."""
    table = counts.reshape(-1, 63, 2, 2)
    sizes = [len(list(combinations(range(6), k))) for k in range(1, 7)]
    columns = {}
    for name, part, lead in (
        ("H72", table.sum(axis=(2, 3)), 0),
        ("H73", table[:, :, 0].sum(axis=2), 2),
        ("H74", table[:, :, :, 1].sum(axis=2), 0),
        ("H75", table[:, :, 0, 1], 2),
    ):
        adults = {"H72": table, "H73": table, "H74": table[..., 1:], "H75": table[..., 1:]}[name]
        items = [adults.sum(axis=(1, 2, 3))]
        if lead:
            items += [adults[:, :, 1].sum(axis=(1, 2)), adults[:, :, 0].sum(axis=(1, 2))]
        first = 0
        for k, size in enumerate(sizes):
            if k == 1:
                items.append(part[:, 6:].sum(axis=1))
            items.append(part[:, first : first + size].sum(axis=1))
            items += list(part[:, first : first + size].T)
            first += size
        columns |= {f"{name}{i:03d}": item for i, item in enumerate(items, start=1)}
    return columns


def write_demonstration(folder, counties, private, public, change=lambda frame: frame):
    """Write the tables of two histograms of some counties, and return the path."""
    gisjoin = [f"G{fips[:2]}0{fips[2:]}0" for fips in counties["fips"]]
    columns = {"gisjoin": gisjoin, "name": counties["county"].tolist()}
    for suffix, counts in (("dp", private), ("sf", public)):
        columns |= {f"{k}_{suffix}": v for k, v in demonstration_csv(counts).items()}
    path = folder / "nhgis_ppdd_20210608_county.csv"
    change(pd.DataFrame(columns)).to_csv(path, index=False)
    return path


def write_made_up(folder):
    """Write a file for all counties, with persons moved between counties of one state."""
    published = read_published(ROOT / "data/census2010_county_population.csv")
    whole = read_histogram(ROOT / "data/census2010_race_hispanic_adult_county.csv", published)
    private, rng = whole.counts.copy(), np.random.default_rng(20210608)
    for places in whole.counties.groupby("state").indices.values():
        first, second = np.array_split(places, 2)
        first, second = first[: len(second)], second[: len(first)]
        wanted = rng.integers(-6, 7, (len(first), private.shape[1]))
        moved = np.clip(wanted, -private[second], private[first])
        private[first] -= moved
        private[second] += moved
    return write_demonstration(folder, whole.counties, private, whole.counts)
