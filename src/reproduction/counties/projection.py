"""Projected discrete Laplace noise, compared with generalized Laplace noise (ISDP, Section E.4).

Independent discrete Laplace noise (double geometric in ISDP) is projected onto the vectors that
keep the state's total, in the l1 norm. The nearest vector is not unique. Therefore three choices of
this vector are compared.

ISDP is *Integer Subspace Differential Privacy*.
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
    """Simulate projected noise of one state for every choice of the nearest vector.

    HiGHS solves the first `checked` simulations by linear and by integer programmes. Its solutions
    change one cell, and the choice "solver" changes the same cell in all simulations. The noise of
    each choice has the shape (simulations, counties). The second value describes the solutions of
    HiGHS in columns of the table projection_summary. Its key `cell` is the changed cell, counted
    from 0.
    """
    noise_rng, choice_rng, remainder_rng = rng.spawn(3)
    noise = double_geometric_noise(noise_rng, epsilon, (simulations, counties))
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
        "random": correct_one_cell(noise, choice_rng.integers(counties, size=simulations)),
        "even": correct_evenly(remainder_rng, noise),
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
    """Compare the spread, the tails and the overlap of projected and generalized Laplace noise.

    `projected` and `solved` are the results of `project_state`. `generalized` has the shape (chain,
    draw, county). The result contains the rows of one state in the table projection_summary.
    """
    flat = generalized.reshape(-1, generalized.shape[-1])
    rows = []
    for choice, noise in projected.items():
        overlaps = _box_overlaps(noise, flat)
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
                "box_overlap_median": np.median(overlaps),
                "box_overlap_min": overlaps.min(),
                "boxes_overlapping": (overlaps > 0.5).mean(),
                "overlap": _pooled_overlap(noise, flat),
            }
        )
    return pd.DataFrame(rows).drop(columns="cell", errors="ignore")


def tabulate_projected_boxes(
    counties: pd.DataFrame, projected: dict[str, np.ndarray], generalized: np.ndarray
) -> pd.DataFrame:
    """Tabulate the values that the figure of one state shows, with one value per row."""
    noises = {"generalized": generalized} | {key: noise[None] for key, noise in projected.items()}
    tables = pd.concat({key: boxes(noise) for key, noise in noises.items()}, names=["law"])
    return join_counties(counties, tables.reset_index("law"))


def _box_overlaps(noise: np.ndarray, other: np.ndarray) -> np.ndarray:
    low, high = np.quantile(noise, (0.25, 0.75), axis=0)
    other_low, other_high = np.quantile(other, (0.25, 0.75), axis=0)
    shared = np.minimum(high, other_high) - np.maximum(low, other_low)
    covered = np.maximum(high, other_high) - np.minimum(low, other_low)
    return np.where(covered > 0, np.maximum(shared, 0) / np.where(covered > 0, covered, 1), 1.0)


def _pooled_overlap(noise: np.ndarray, other: np.ndarray) -> float:
    """Compute 1 minus the total variation distance between the pooled noise of both methods."""
    one, two = (pd.Series(x.ravel()).value_counts(normalize=True) for x in (noise, other))
    return float(np.minimum(*one.align(two, fill_value=0)).sum())
