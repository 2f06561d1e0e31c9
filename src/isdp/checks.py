"""One check each for the numbers that people give: whole, positive, within 64 bits."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from isdp.errors import InputError

INT64_MAX = np.iinfo(np.int64).max


def whole(where: str, name: str, value, least: int = 0) -> int:
    """Return a whole number as an int.

    Parameters
    ----------
    where, name : str
        What asks, and what it asks for; both stand in the message.
    value : number
        An integer, or another number that is whole, such as 3.0; no bool.
    least : int
        Smallest number that will do.

    Raises
    ------
    InputError
        If it is anything else.

    Examples
    --------
    >>> whole("exact", "draws", 3.0)
    3
    """
    # nan and infinity have no remainder of zero either
    if isinstance(value, bool) or not isinstance(value, Real) or value % 1 or not value >= least:
        raise InputError(f"{where}: {name} must be a whole number from {least} up, got {value!r}")
    return int(value)


def positive(name: str, value) -> float | int:
    """Return a positive finite number as it is.

    Raises
    ------
    InputError
        If it is anything else, a bool or nan included.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < math.inf:
        raise InputError(f"{name} must be a positive number, got {value!r}")
    return value


def whole_vector(
    where: str, name: str, values, length: int, largest: int = INT64_MAX
) -> np.ndarray:
    """Return whole numbers, one a cell or condition, as an int64 array of shape (length,).

    Parameters
    ----------
    where, name : str
    values : array_like of an integer type
    length : int
    largest : int
        Bound on the magnitude, at most that of int64.

    Raises
    ------
    InputError
        For another shape, a type that is not of whole numbers, or a number too large.
    """
    array = np.asarray(values)
    if array.shape != (length,):
        raise InputError(f"{where}: {name} needs {length} numbers, got an array of {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{where}: {name} must be whole numbers, got {array.dtype}")
    if array.size and max(abs(int(array.max())), abs(int(array.min()))) > largest:
        raise InputError(f"{where}: {name} holds a number too large for 64-bit sampling")
    return array.astype(np.int64)


def refuse_overflow(where: str, what: str, largest: float, bits: int, advice: str) -> None:
    """Refuse numbers that could reach 2^bits.

    Parameters
    ----------
    where, what : str
        Such as "exact" and "noise in 5 cells".
    largest : float
        Bound on the magnitude.
    bits : int
    advice : str
        What to do about it.

    Raises
    ------
    InputError
        With the bound, if it is not below 2^bits; nan counts as too large.
    """
    if not largest < 2.0**bits:
        raise InputError(
            f"{where}: {what} could reach {largest:.3g}, more than {bits} bits hold; {advice}"
        )
