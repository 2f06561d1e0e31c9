"""Checks of arguments: each returns a valid value and raises `InputError` for others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Rational, Real

import numpy as np

from isdp.errors import InputError

INT64_MAX = np.iinfo(np.int64).max
MAX_EXPONENT = 400  # of a power of ten
MAX_SHOWN = 100  # characters of a value in a message
MIN_SCALE, MAX_SCALE = 1e-100, 1e100


def is_number(value) -> bool:
    """Whether a value is a real number and no bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_integer(where: str, name: str, value, least: int = 0, most: float = math.inf) -> int:
    """Return a whole number as an int.

    Parameters
    ----------
    where, name : str
        What asks, and what it asks for; both stand in the message.
    value : number
        An integer, or another number that is whole, such as 3.0; no bool.
    least, most : int
        Range of the number, both included.

    Raises
    ------
    InputError
        If it is anything else.

    Examples
    --------
    >>> check_integer("exact", "draws", 3.0)
    3
    """
    # nan and infinity have no remainder of zero either
    if not is_number(value) or value % 1 or not least <= value <= most:
        wanted = f"from {least} up" if most == math.inf else f"from {least} to {most}"
        raise _refusal(f"{where}: {name}", f"a whole number {wanted}", value)
    return int(value)


def check_positive(name: str, value) -> float | int:
    """Return a positive finite number as it is, else raise `InputError`."""
    if not is_number(value) or not 0 < value < math.inf:
        raise _refusal(name, "a positive number", value)
    return value


def check_positive_float(name: str, value) -> float:
    """Return a positive number from 1e-100 to 1e100 as a float, else raise `InputError`.

    A scale beyond this range, or its square, leaves floating point.
    """
    return float(check_in_range(name, check_positive(name, value), MIN_SCALE, MAX_SCALE))


def check_non_negative(name: str, value, below: float = math.inf) -> float | int:
    """Return a number from 0 up and below a limit as it is, else raise `InputError`."""
    if not is_number(value) or not 0 <= value < below:
        limit = "a finite number from 0 up" if below == math.inf else f"from 0 up and below {below}"
        raise _refusal(name, limit, value)
    return value


def check_in_range(name: str, value, low: float, high: float) -> float | int:
    """Return a number of a range, both ends included, as it is, else raise `InputError`."""
    if not is_number(value) or not low <= value <= high:
        raise _refusal(name, f"a number between {low:g} and {high:g}", value)
    return value


def check_probability(name: str, value) -> float:
    """Return a number strictly between 0 and 1 as a float, else raise `InputError`."""
    if not is_number(value) or not 0 < value < 1:
        raise _refusal(name, "a number between 0 and 1", value)
    if not 0 < float(value) < 1:
        raise InputError(f"{name} is too near 0 or 1 for floating point")
    return float(value)


def check_choice(name: str, value, known: Iterable):
    """Return a value that is among the known ones, else raise `InputError`."""
    if value not in known:
        raise _refusal(name, f"one of {', '.join(map(str, known))}", value)
    return value


def parse_rational(name: str, value) -> Fraction:
    """Read a number as the rational number that it is written as.

    Parameters
    ----------
    value : Fraction, int, str or float
        A float stands for its shortest decimal form; a string may be "1/4" or "0.25".

    Raises
    ------
    InputError
        If it is no number.
    """
    try:
        if isinstance(value, Rational) and not isinstance(value, bool):
            return Fraction(value)
        if not is_number(value) and not isinstance(value, str):
            raise ValueError
        return _read(str(value))
    except (ValueError, ZeroDivisionError):
        raise _refusal(name, "a number such as 0.25, '1/4' or Fraction(1, 4)", value) from None


def _read(text: str) -> Fraction:
    """Read a number; its power of ten must not have millions of digits.

    Python limits the digits of all the rest of a number to a few thousand.
    """
    _, marked, exponent = text.lower().partition("e")
    if marked and abs(int(exponent)) > MAX_EXPONENT:
        raise ValueError
    return Fraction(text)


def _refusal(name: str, wanted: str, value) -> InputError:
    try:
        shown = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # Python writes a few thousand digits at most
        shown = "a number of thousands of digits"
    if len(shown) > MAX_SHOWN:
        shown = f"{shown[:MAX_SHOWN]}..."
    return InputError(f"{name} must be {wanted}, got {shown}")


def check_integer_vector(
    where: str, name: str, values, length: int, largest: int = INT64_MAX
) -> np.ndarray:
    """Return whole numbers, one a cell or condition, as an int64 array of shape (length,).

    Parameters
    ----------
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
