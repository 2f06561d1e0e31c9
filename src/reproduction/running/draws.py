"""Files of draws by what they say of themselves: wing, experiment, law and unit.

A unit is what an experiment is repeated for, such as a state; an experiment without units has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.errors import InputError
from isdp.io.draws import Draws, read_draws

LABELS = ("wing", "experiment", "law", "unit", "sampler")


def labelled(
    draws: Draws,
    *,
    wing: str,
    experiment: str,
    law: str,
    unit: str = "",
    sampler: str,
    mechanism: Mapping,
) -> Draws:
    """Have draws say what they are draws of.

    Parameters
    ----------
    draws : Draws
    wing, experiment, law, unit : str
    sampler : str
        "mcmc", "paper" (the paper's own chain, beside those that mix sooner) or "exact".
    mechanism : mapping
        Settings of the law: epsilon and norm, or sigma.
    """
    labels = dict(zip(LABELS, (wing, experiment, law, unit, sampler), strict=True))
    return replace(draws, settings=draws.settings | labels | {"mechanism": dict(mechanism)})


def read_by(label: str, paths: Iterable) -> dict[str, Draws]:
    """Read files of draws of one experiment, by the law or the unit that each names.

    Raises
    ------
    InputError
        If two files are of the same, or of two experiments.
    """
    read: dict[str, Draws] = {}
    experiments = set()
    for path in paths:
        draws = read_draws(path)
        name = draws.settings[label]
        experiments.add(draws.settings["experiment"])
        if name in read or len(experiments) > 1:
            raise InputError(
                f"{Path(path).name}: {label} {name} of {sorted(experiments)} stands twice"
            )
        read[name] = draws
    return read


def verification_table(paths: Iterable) -> pd.DataFrame:
    """Check A u = 0 once more, in exact integers, for every draw of every file.

    Returns
    -------
    DataFrame with columns draws_of (the file's name), wing, experiment, law, unit, sampler,
        constraints, cells, draws and violations (draws in which some invariant is not met)
    """
    rows = []
    for path in paths:
        draws = read_draws(path)
        values = draws.invariants.apply(draws.noise)
        rows.append(
            {
                "draws_of": Path(path).stem,
                **{name: draws.settings[name] for name in LABELS},
                "constraints": draws.invariants.constraints,
                "cells": draws.invariants.cells,
                "draws": int(np.prod(draws.noise.shape[:-1])),
                "violations": int(values.any(axis=-1).sum()),
            }
        )
    return pd.DataFrame(rows)
