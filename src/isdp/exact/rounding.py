"""What 53-bit arithmetic does to the laws of the samplers: bounds in total variation distance.

A sampler in floating point draws from a law near the one asked for. Two arguments bound how near.
Run it beside one in exact arithmetic, with the same uniforms: they part only where a decision falls
within rounding, so the chances of that, over all decisions of a draw, bound the distance. And where
every weight is off by a factor within exp(+-x), the law is off by the mean of x at most, however
rarely a try is accepted. Constants are rounded up; the bounds are far above what is usual, where
errors go both ways.

The generator is taken for a source of true uniforms, multiples of 2^-53.
"""

from __future__ import annotations

import math

import numpy as np

from isdp.exact.compositions import LARGEST_MEAN, hull
from isdp.exact.kernels import NARROW, GramSchmidt

UNIT = 2.0**-53
STIRLING = 3e-14  # of the rest of Stirling's formula for arguments below 20
FAR = 10  # standard deviations that no sum goes beyond


def counts_error(counts: float, rate: float) -> float:
    """Bound for geometric counts, whole parts of NumPy's exponential variables over `rate`.

    A variable x lies on a grid of at most 8 units and its quotient is rounded, which shifts both
    ends of a count's interval by up to (8 + 2 x) units; relative to the count's own chance,
    exp(-x) (1 - exp(-rate)), that is (16 + 4 x) units over 1 - exp(-rate), and NumPy's tables add
    some units. The mean of x is at most 1.

    Parameters
    ----------
    counts : float
        How many are drawn.
    rate : float
        P(k) is proportional to exp(-rate k).
    """
    return 35 * counts * UNIT / -math.expm1(-rate)


def log_rise_error(cells: int, rate: float, mode: int, reach: float) -> float:
    """Bound on the error of `isdp.exact.compositions._log_rise` up to `reach` from the mode.

    No term that its formula adds is larger than `reach` (once or twice) or reach times the rate;
    each takes a few roundings. What is left of Stirling's formula counts where an argument is
    small.
    """
    smallest = mode + 1 - reach
    rest = 4 * STIRLING if smallest < 20 else 0.0
    return (25 + 5 * rate) * UNIT * (reach + 40) + rest


def block_error(cells: int, epsilon: float) -> float:
    """Bound for the l1 noise of one block: a sum S, and two uniform compositions of it.

    Parameters
    ----------
    cells : int
        Of the block, at least 1.
    epsilon : float
    """
    if cells == 1:
        return 0.0
    top = hull(cells, epsilon)
    sd = math.sqrt(0.5 * cells * math.exp(-epsilon)) / -math.expm1(-epsilon)
    # a try: one of the flat top's values or a geometric step, then one decision; 2 tries at most
    values = 2 * (top.high.place - top.low.place + 3) * UNIT
    steps = counts_error(1, top.high.fall)
    if top.low.place > 0:
        steps += counts_error(1, top.low.fall)
    decision = 2 * log_rise_error(cells, epsilon, top.mode, FAR * sd) + 20 * UNIT
    largest = top.mode + FAR * sd
    return 2 * (values + steps + decision) + 2 * composition_error(cells, largest)


def composition_error(cells: int, total: float) -> float:
    """Bound for a uniform composition of at most `total`.

    Stars and bars are exact. Where the total is first divided by a power of two, each remainder
    takes a decision within 5 units, twice at most on average, and so does the whole.
    """
    if total <= LARGEST_MEAN * cells:
        return 0.0
    quotients = FAR * math.sqrt(cells)  # how far their sum goes from its mode, at its widest
    whole = log_rise_error(cells, 0.25, 2 * cells, quotients) + 20 * UNIT
    return 2 * (10 * cells * UNIT + whole)


def share_error(cells: int, epsilon: float) -> float:
    """Bound for two uniform compositions of given sums of geometric counts.

    Parameters
    ----------
    cells : int
        That share the sums, at least 1.
    epsilon : float
    """
    if cells == 1:
        return 0.0
    sd = math.sqrt(cells * math.exp(-epsilon)) / -math.expm1(-epsilon)
    largest = (cells - 1) / math.expm1(epsilon) + 1 + FAR * sd
    return 2 * composition_error(cells, largest)


def staged_error(dimension: int, epsilon: float, tries: float) -> float:
    """Bound for staged rejection: proposals off by factors, and decisions within 3 units.

    Each of `dimension` free cells is the difference of two counts, whose x add up to at most
    2 dimension on average over the draws that are kept. A try takes up to two decisions; `tries` is
    an estimate and counts twice.
    """
    return 2 * counts_error(2 * dimension, epsilon) + 12 * UNIT * tries


def frame_error(frame: GramSchmidt) -> float:
    """Bound on what a rounded Gram-Schmidt frame does to Gaussian noise of any width.

    With R the triangular factor as doubles hold it, Klein's sampler draws from the exponential of
    -||R k||^2 / (2 sigma^2) in place of -||B k||^2 / (2 sigma^2). Banaszczyk's inequality bounds
    the mean of |k_i k_j| by sigma^2 g_i g_j, where g_i^2 is the i-th diagonal entry of the inverse
    of B'B. So sigma falls out of the mean difference, which is at most g'|B'B - R'R|g / 2; what is
    computed of it is itself off by (d + 2) units of |R|'|R|. The centres, sums of d products, and
    sigma itself are rounded too.
    """
    d = len(frame.lengths)
    if d == 0:
        return 0.0
    upper = frame.lengths[:, None] * (np.eye(d) + frame.mu)
    g = np.linalg.norm(np.linalg.inv(upper), axis=1)
    basis = frame.basis.astype(float)
    seen = np.abs(basis.T @ basis - upper.T @ upper)
    rounded = (d + 2) * UNIT * np.sum((np.abs(upper) @ g) ** 2)
    centres = d * UNIT * float((np.abs(upper) @ g).sum())
    return float(g @ seen @ g + rounded + centres) + 4 * d * UNIT


def coefficient_error(widths: np.ndarray) -> float:
    """Bound for one try of Klein's sampler, with the widths s_i of its Gaussians.

    Narrow ones invert one uniform over eleven weights; wide ones take a geometric step out of up
    to 40 s, each with its own cut, a side and a decision, and are tried twice on average. Windows
    leave out 2^-60. The decision whether to go on is within 10 units.
    """
    widths = np.asarray(widths)
    units = np.where(widths < NARROW, 60.0, 250.0 * widths + 60.0)
    return float(units.sum()) * UNIT + len(widths) * 2.0**-60
