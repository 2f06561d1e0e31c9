"""The mechanism as an OpenDP measurement, which OpenDP can compose with other measurements.

The module needs the extra `opendp`. OpenDP cannot verify the privacy loss of the function, because
`make_user_measurement` builds it. Enable the feature `honest-but-curious` first.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp

from isdp.arrays import IntArray
from isdp.checks import ExactNumber, check_integer_array
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.release_noise import draw_noise, parse_epsilon
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace
from isdp.streams import SYSTEM_RANDOMNESS

METRIC = "l1 distance between tables of equal invariants"


def l1_metric() -> Any:
    """Return the metric that all measurements share, because OpenDP composes equal metrics only."""
    return dp.user_distance(METRIC)


def table_domain(invariants: Invariants, totals: Sequence[int]) -> Any:
    """Return the domain of all tables whose invariants have the values `totals`."""
    wanted = _totals(invariants, totals)

    def member(table: object) -> bool:
        try:
            values = _counts(invariants, table)
            return bool((invariants.apply(values) == wanted).all())
        except (InputError, ValueError, TypeError):
            return False

    return dp.user_domain(f"tables with totals {_digest(invariants, wanted)}", member)


def _counts(invariants: Invariants, table: object) -> IntArray:
    return check_integer_array("opendp: the table", np.asarray(table), (invariants.cells,))


def _totals(invariants: Invariants, totals: Sequence[int]) -> IntArray:
    return check_integer_array("opendp: totals", totals, (invariants.constraints,))


def _digest(invariants: Invariants, totals: IntArray) -> str:
    a = invariants.sparse
    parts = (np.array(a.shape), a.indptr, a.indices, a.data, totals)
    return hashlib.sha256(b"".join(part.astype("<i8").tobytes() for part in parts)).hexdigest()


def make_measurement(invariants: Invariants, totals: Sequence[int], epsilon: ExactNumber) -> Any:
    """Return the measurement that adds l1 noise by `isdp.draw_noise`.

    Parameters
    ----------
    totals : sequence of int, shape (constraints,)
        The public values of the invariants in the measured tables.
    epsilon : Fraction, int, str or float
        Privacy loss per unit of l1 distance.

    Returns
    -------
    opendp.Measurement
        A measurement that maps a list of counts to a list of noisy counts. Its privacy map takes an
        l1 distance and returns the privacy loss, rounded up. The distance is 2 for one person who
        changes cell without a change of any total.

    Raises
    ------
    InputError
        If epsilon is out of range, or `totals` does not have one integer per invariant.
    """
    exact = parse_epsilon(epsilon)
    mechanism = GeneralizedLaplace(exact)
    guarantee = mechanism.guarantee
    wanted = _totals(invariants, totals)

    def noisy(table: object) -> list[int]:
        counts = _counts(invariants, table)
        if (invariants.apply(counts) != wanted).any():  # OpenDP does not check the domain
            raise InputError(
                "opendp: the totals of the table are not those of this measurement. Make a "
                "measurement with the totals of the table."
            )
        noise = draw_noise(mechanism, invariants, rng=SYSTEM_RANDOMNESS)[0]
        return list(map(int, counts + noise))

    def loss(distance: float) -> float:
        units = Fraction(distance)
        if guarantee.growth != "linear" or units < 0:
            raise InputError(f"opendp: the distance must be 0 or more, got {distance}")
        try:
            near = float(exact * units)
        except OverflowError:
            return math.inf
        return near if Fraction(near) >= exact * units else math.nextafter(near, math.inf)

    return dp.m.make_user_measurement(
        input_domain=table_domain(invariants, totals),
        input_metric=l1_metric(),
        output_measure=dp.max_divergence(),
        function=noisy,
        privacy_map=loss,
    )
