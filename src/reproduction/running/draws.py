"""Files of draws with their labels: study, experiment, law, unit (such as a state) and sampler."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.draws import Draws, read_draws

LABELS = ("wing", "experiment", "law", "unit", "sampler")


def label_draws(
    draws: Draws,
    *,
    wing: str,
    experiment: str,
    law: str,
    unit: str = "",
    sampler: str,
    mechanism: Mapping,
) -> Draws:
    """Add to draws what they are draws of, and the settings of the mechanism.

    The sampler is "mcmc", "paper" (the paper's own chain, where another mixes sooner) or "exact".
    """
    labels = dict(zip(LABELS, (wing, experiment, law, unit, sampler), strict=True))
    return replace(draws, settings=draws.settings | labels | {"mechanism": dict(mechanism)})


def read_draws_by(label: str, paths: Iterable) -> dict[str, Draws]:
    """Read files of draws of one experiment, by the law or the unit that each names.

    Raises InputError if two files are of the same, or of two experiments.
    """
    read: dict[str, Draws] = {}
    experiments = set()
    for path in paths:
        draws = read_draws(path)
        name = draws.settings[label]
        experiments.add(draws.settings["experiment"])
        if name in read or len(experiments) > 1:
            twice = f"{label} {name} of {sorted(experiments)}"
            raise InputError(f"{Path(path).name}: {twice} stands twice")
        read[name] = draws
    return read


def verify_draws(paths: Iterable) -> pd.DataFrame:
    """Check A u = 0 in exact integers for every draw of every file."""
    rows = {}
    for path in paths:
        draws = read_draws(path)
        rows[Path(path).stem] = {name: draws.settings[name] for name in LABELS} | {
            "constraints": draws.invariants.constraints,
            "cells": draws.invariants.cells,
            "draws": int(np.prod(draws.noise.shape[:-1])),
            "violations": int(draws.invariants.apply(draws.noise).any(axis=-1).sum()),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("draws_of").reset_index()
