"""Measuring things in turns, and the rows of the one table."""

import resource
import subprocess
import sys
import time

import numpy as np

COLUMNS = ["comparison", "setting", "ours", "peer", "unit", "ratio", "bar", "met"]


def timed(work):
    """Return what a call gives, and its CPU seconds, in which other load counts little."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def seconds(work):
    """Time one call."""
    return timed(work)[1]


def seconds_of_program(text):
    """CPU seconds of a Python of its own that runs a short program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", text], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds_a_call(work, least=0.05):
    """Time a call by as many as take `least` seconds together; the first is not counted."""
    work()
    once = seconds(work)
    calls = max(1, round(least / max(once, 1e-6)))
    return min(once, seconds(lambda: [work() for _ in range(calls)]) / calls)


def medians(measures, repetitions=5):
    """Take measures in turns, so that whatever else the machine does falls on all alike.

    Parameters
    ----------
    measures : dict of callables
        Each returns one number, nan where there is nothing to measure. A first round of all, in
        which things are compiled and chains burn in, is not counted.
    repetitions : int

    Returns
    -------
    dict of float
    """
    rounds = [
        {name: measure() for name, measure in measures.items()} for _ in range(repetitions + 1)
    ]
    return {name: float(np.median([each[name] for each in rounds[1:]])) for name in measures}


def row(comparison, setting, ours, peer, unit, bar=np.nan):
    """Make a row of the table; the ratio says how many times as good ours is."""
    ratio = peer / ours if unit in ("s", "GB") else ours / peer
    met = "" if np.isnan(bar) or np.isnan(ratio) else "yes" if ratio >= bar else "no"
    values = (comparison, setting, ours, peer, unit, ratio, bar, met)
    return dict(zip(COLUMNS, values, strict=True))
