"""Projected discrete Laplace noise, compared with the generalized Laplace's (ISDP, E.4).

Double geometric noise in every county is moved to an l1-nearest vector that keeps the state's
total. The nearest vector is not unique, so three choices are compared.
"""

import numpy as np
import pandas as pd

from isdp.constraints.invariants import Invariants
from isdp.diagnostics.summaries import boxes
from isdp.mechanisms.generalized_laplace import double_geometric_noise
from isdp.postprocess.projection import correct_evenly, correct_one_cell, corrected_cell, nearest_l1
from reproduction.counties.experiment import MAX_USUAL_NOISE, join_counties


def project_state(
    rng: np.random.Generator, counties: int, epsilon: float, simulations: int, checked: int
) -> tuple[dict[str, np.ndarray], dict]:
    """Simulate projected noise of one state by every choice.

    HiGHS solves the first `checked` simulations, as linear and as integer programmes. The others
    use the vertex that it returned for these, in closed form. The noise of each choice has shape
    (simulations, counties). The second value has columns of projection_summary on the solutions of
    HiGHS, and `cell`, the corrected cell, counted from 0.
    """
    drawing, choosing, sharing = rng.spawn(3)
    noise = double_geometric_noise(drawing, epsilon, (simulations, counties))
    invariants = Invariants.total(counties)
    checked = min(checked, simulations)
    linear = nearest_l1(noise[:checked], invariants)
    integer = nearest_l1(noise[:checked], invariants, integer=True)
    cells = [corrected_cell(u, z) for u, z in zip(noise, linear, strict=False)]
    moved = [cell for cell in cells if cell >= 0]
    cell = max(set(moved), key=moved.count) if moved else 0
    solver = correct_one_cell(noise, cell)
    projected = {
        "solver": solver,
        "random": correct_one_cell(noise, choosing.integers(counties, size=simulations)),
        "even": correct_evenly(sharing, noise),
    }
    excess = np.abs(noise[:checked].sum(axis=1))
    distance = np.abs(linear - noise[:checked]).sum(axis=1)
    solved = {
        "checked": checked,
        "linear_equal": int((linear == solver[:checked]).all(axis=1).sum()),
        "integer_equal": int((integer == solver[:checked]).all(axis=1).sum()),
        "linear_optimal": int((distance == excess).sum()),
        "cell": cell,
    }
    return projected, solved


def summarise_projection(
    state: str, projected: dict[str, np.ndarray], generalized: np.ndarray, solved: dict
) -> pd.DataFrame:
    """Compare spread, tails and overlap of the projected and the generalized Laplace noise.

    `projected` and `solved` are from `project_state`; `generalized` has shape (chain, draw,
    county). The rows are those of the table projection_summary, one per choice.
    """
    flat = generalized.reshape(-1, generalized.shape[-1])
    rows = []
    for choice, noise in projected.items():
        shared = _box_overlap(noise, flat)
        rows.append(
            {
                "state": state,
                "counties": noise.shape[1],
                "choice": choice,
                "simulations": len(noise),
                **solved,
                "sum_violations": int((noise.sum(axis=1) != 0).sum()),
                "sd": np.median(noise.std(axis=0)),
                "sd_generalized": np.median(flat.std(axis=0)),
                "sd_max": noise.std(axis=0).max(),
                "beyond_30": (np.abs(noise) > MAX_USUAL_NOISE).mean(),
                "beyond_30_generalized": (np.abs(flat) > MAX_USUAL_NOISE).mean(),
                "box_overlap_median": np.median(shared),
                "box_overlap_min": shared.min(),
                "boxes_overlapping": (shared > 0.5).mean(),
                "overlap": _pooled_overlap(noise, flat),
            }
        )
    return pd.DataFrame(rows).drop(columns="cell", errors="ignore")


def tabulate_projected_boxes(
    counties: pd.DataFrame, projected: dict[str, np.ndarray], generalized: np.ndarray
) -> pd.DataFrame:
    """Tabulate the values in the figure of one state, one value per row."""
    laws = {"generalized": generalized} | {law: noise[None] for law, noise in projected.items()}
    tables = pd.concat({law: boxes(noise) for law, noise in laws.items()}, names=["law"])
    return join_counties(counties, tables.reset_index("law"))


def _box_overlap(noise: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Divide the intersection of the two interquartile ranges of a county by their union."""
    low, high = np.quantile(noise, (0.25, 0.75), axis=0)
    other_low, other_high = np.quantile(other, (0.25, 0.75), axis=0)
    shared = np.minimum(high, other_high) - np.maximum(low, other_low)
    covered = np.maximum(high, other_high) - np.minimum(low, other_low)
    return np.where(covered > 0, np.maximum(shared, 0) / np.where(covered > 0, covered, 1), 1.0)


def _pooled_overlap(noise: np.ndarray, other: np.ndarray) -> float:
    """Compute the probability shared by both distributions of noise, pooled over counties."""
    one, two = (pd.Series(x.ravel()).value_counts(normalize=True) for x in (noise, other))
    return float(np.minimum(*one.align(two, fill_value=0)).sum())
