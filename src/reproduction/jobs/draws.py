"""Files of draws, with labels that identify their origin."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from isdp.io.draws import Draws, read_draws

# Study, experiment, distribution, unit (such as a state) and sampler. These names are columns of
# published tables.
LABELS = ("wing", "experiment", "law", "unit", "sampler")


def label_draws(
    draws: Draws,
    *,
    study: str,
    experiment: str,
    law: str,
    unit: str = "",
    sampler: str,
    mechanism: Mapping,
) -> Draws:
    """Label draws with their origin, and add the settings of the mechanism.

    `sampler` is "mcmc", "paper" (the paper's chain, if "mcmc" is a faster chain) or "exact".
    """
    labels = dict(zip(LABELS, (study, experiment, law, unit, sampler), strict=True))
    return replace(draws, settings=draws.settings | labels | {"mechanism": dict(mechanism)})


def read_draws_by(label: str, paths: Iterable) -> dict[str, Draws]:
    """Read files of draws of one experiment, and index them by a label such as "unit"."""
    return {draws.settings[label]: draws for draws in map(read_draws, paths)}


def verify_draws(paths: Iterable) -> pd.DataFrame:
    """Count the draws u of each file that violate the invariants A u = 0, in exact integers."""
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
