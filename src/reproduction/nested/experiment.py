"""Releases of the 2010 counts by noise with a term for each total, and by TopDown."""

import time
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import numpy as np
import pandas as pd

from isdp import draw_noise
from isdp.accounting import as_fraction
from isdp.streams import stream
from isdp.topdown.nonnegative import nonnegative_tables
from reproduction.data.histogram import Histogram
from reproduction.nested.settings import PUBLISHED
from reproduction.nested.systems import (
    CROSSING,
    PRODUCTION,
    PROJECTED,
    SAME_QUERIES,
    SPLITS,
    build_noise,
    hold_totals,
    plan_topdown,
    published_rho,
)
from reproduction.topdown.configurations import HELD_LEVELS, SCHEMA
from reproduction.topdown.errors import measure_bias, measure_margins, summarise_errors
from reproduction.topdown.experiment import census_hierarchy, release_once, sum_to_levels
from reproduction.topdown.system_errors import add_labels, gather_tables

TABLE_KINDS = ("bias", "margins", "summary")
Released = tuple[str, Fraction, int, Mapping[str, np.ndarray], float]


def list_budgets(settings: Mapping) -> list[tuple[Fraction, int]]:
    """List the budgets in ascending order, each with its number of TopDown runs."""
    runs, published = settings["runs"], published_rho()
    given = (published if each == PUBLISHED else as_fraction(each) for each in settings["rhos"])
    return [
        (rho, runs["published"] if rho == published else runs["others"]) for rho in sorted(given)
    ]


def run_family(
    seed: int, histogram: Histogram, family: str, settings: Mapping, read: bool
) -> dict[str, pd.DataFrame]:
    """Release the counts by the systems of a family at all budgets, and measure the errors.

    Parameters
    ----------
    settings : dict
        The block "nested" of the configuration.
    read : bool
        True if the study of TopDown has the runs with production settings at the published budget.

    Returns
    -------
    dict
        The tables of `measure`. The column seconds of "summary" is the processor time.
    """
    releases = {"noise": release_noise, "topdown": release_topdown}[family]
    true, found = sum_to_levels(histogram, histogram.counts), []
    for system, rho, number, tables, seconds in releases(seed, histogram, settings, read):
        measured = measure(true, tables)
        measured["summary"]["seconds"] = seconds
        found.append(add_labels(measured, system=system, budget=float(rho), run=number))
    return gather_tables(found)


def measure(true: Mapping, released: Mapping) -> dict[str, pd.DataFrame]:
    """Measure the errors as in the study of TopDown, for tables (units, cells) of each level."""
    margins = {level: measure_margins(SCHEMA, released[level], true[level]) for level in true}
    return {
        "bias": measure_bias(released["county"], true["county"]),
        "margins": pd.concat(margins, names=["level", None]).reset_index("level"),
        "summary": pd.DataFrame([summarise_errors(released["county"], true["county"])]),
    }


def release_noise(
    seed: int, histogram: Histogram, settings: Mapping, read: bool = False
) -> Iterator[Released]:
    """Release the counts with each kind of noise, and project the first draws of crossing noise."""
    states, tree = histogram.counties["state"].tolist(), census_hierarchy(histogram)
    held = hold_totals(states)
    for system, split in SPLITS.items():
        for rho, projected in list_budgets(settings):
            for number in range(settings["runs"]["noise"]):
                rng = stream(seed, "nested", f"{system}, {float(rho)!r}", number)
                noise, seconds = timed(draw_noise, build_noise(states, split, rho), held, rng=rng)
                noisy = histogram.counts + noise.reshape(histogram.counts.shape)
                yield system, rho, number, sum_to_levels(histogram, noisy), seconds
                if system == CROSSING and number < projected:
                    tables, more = timed(nonnegative_tables, rng, noisy, tree, HELD_LEVELS)
                    yield PROJECTED, rho, number, tables, seconds + more


def release_topdown(
    seed: int, histogram: Histogram, settings: Mapping, read: bool
) -> Iterator[Released]:
    """Release the counts by TopDown with production settings, and with the same queries."""
    for system in (PRODUCTION, SAME_QUERIES):
        for rho, runs in list_budgets(settings):
            if read and system == PRODUCTION and rho == published_rho():
                continue
            for number in range(runs):
                rng = stream(seed, "nested", f"{system}, {float(rho)!r}", number)
                plan = plan_topdown(system, rho)
                release, seconds = timed(release_once, rng, histogram, plan)
                yield system, rho, number, release.tables, seconds


def timed(function: Callable, *arguments, **options) -> tuple:
    """Return the value of a function, and its processor time in seconds."""
    began = time.process_time()
    value = function(*arguments, **options)
    return value, time.process_time() - began
