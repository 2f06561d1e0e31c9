"""Checks of arguments: each returns a valid value and raises `InputError` for others."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from numbers import Rational, Real
from typing import TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.errors import InputError

ExactNumber = Fraction | int | str | float
T = TypeVar("T")

INT64_MAX: int = np.iinfo(np.int64).max
MAX_EXPONENT = 400  # of a power of ten
MAX_SHOWN = 100  # characters of a value in a message
MIN_SCALE, MAX_SCALE = 1e-100, 1e100


def is_number(value: object) -> TypeGuard[float]:
    """Test that a value is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_integer(
    where: str, name: str, value: object, least: int = 0, most: float = math.inf
) -> int:
    """Return a whole number as an int.

    Parameters
    ----------
    where, name : str
        The caller and the argument, for the message.
    value : number
        An integer, or another number that is whole, such as 3.0. A bool is refused.
    least, most : int
        Range of the number, both ends included.

    Raises
    ------
    InputError
        If the value is anything else.

    Examples
    --------
    >>> check_integer("exact", "n_draws", 3.0)
    3
    """
    # nan and infinity have no remainder of zero either
    if not is_number(value) or value % 1 or not least <= value <= most:
        wanted = f"of {least} or more" if most == math.inf else f"from {least} to {most}"
        raise _refusal(f"{where}: {name}", f"a whole number {wanted}", value)
    return int(value)


def check_positive(name: str, value: object) -> float:
    """Return a positive finite number as it is, else raise `InputError`."""
    if not is_number(value) or not 0 < value < math.inf:
        raise _refusal(name, "a positive number", value)
    return value


def check_positive_float(name: str, value: object) -> float:
    """Return a positive number from 1e-100 to 1e100 as a float, else raise `InputError`.

    A scale beyond this range, or its square, leaves floating point.
    """
    return float(check_in_range(name, check_positive(name, value), MIN_SCALE, MAX_SCALE))


def check_non_negative(name: str, value: object, below: float = math.inf) -> float:
    """Return a number of 0 or more and below a limit as it is, else raise `InputError`."""
    if not is_number(value) or not 0 <= value < below:
        limit = "" if below == math.inf else f" and below {below}"
        raise _refusal(name, f"a finite number of 0 or more{limit}", value)
    return value


def check_in_range(name: str, value: object, low: float, high: float) -> float:
    """Return a number of a range, both ends included, as it is, else raise `InputError`."""
    if not is_number(value) or not low <= value <= high:
        raise _refusal(name, f"a number between {low:g} and {high:g}", value)
    return value


def check_probability(name: str, value: object) -> float:
    """Return a number strictly between 0 and 1 as a float, else raise `InputError`."""
    if not is_number(value) or not 0 < value < 1:
        raise _refusal(name, "a number between 0 and 1", value)
    if not 0 < float(value) < 1:
        raise InputError(f"{name} is too near 0 or 1 for floating point")
    return float(value)


def check_choice(name: str, value: T, known: Collection[object]) -> T:
    """Return a value that is among the known ones, else raise `InputError`."""
    if value not in known:
        raise _refusal(name, f"one of {', '.join(map(str, known))}", value)
    return value


def parse_rational(name: str, value: object) -> Fraction:
    """Read a number as the rational number that it is written as.

    Parameters
    ----------
    value : Fraction, int, str or float
        A float stands for its shortest decimal form; a string may be "1/4" or "0.25".

    Raises
    ------
    InputError
        If the value is not such a number.
    """
    try:
        if isinstance(value, Rational) and not isinstance(value, bool):
            return Fraction(int(value.numerator), int(value.denominator))
        if not is_number(value) and not isinstance(value, str):
            raise ValueError
        return _read(str(value))
    except (ValueError, ZeroDivisionError):
        raise _refusal(name, "a number such as 0.25, '1/4' or Fraction(1, 4)", value) from None


def parse_positive(name: str, value: ExactNumber) -> tuple[float, Fraction]:
    """Read a positive number as a float and as the rational number that it is written as.

    The first is the value itself if it is an int or a float.

    Raises
    ------
    InputError
        If it is not such a number, or not in the range of floats.
    """
    exact = parse_rational(name, value)
    try:
        number = float(exact) if isinstance(value, str | Fraction) else value
    except OverflowError:
        number = math.inf
    if exact <= 0 or not 0 < number < math.inf:
        raise _refusal(name, "a positive number", value)
    return number, exact


def _read(text: str) -> Fraction:
    """Read a number; refuse a power of ten with millions of digits.

    Python limits the number of digits in the rest of a number to a few thousand.
    """
    _, marked, exponent = text.lower().partition("e")
    if marked and abs(int(exponent)) > MAX_EXPONENT:
        raise ValueError
    return Fraction(text)


def _refusal(name: str, wanted: str, value: object) -> InputError:
    try:
        shown = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # Python writes a few thousand digits at most
        shown = "a number of thousands of digits"
    if len(shown) > MAX_SHOWN:
        shown = f"{shown[:MAX_SHOWN]}..."
    return InputError(f"{name} must be {wanted}, got {shown}")


def check_integer_vector(
    where: str, name: str, values: ArrayLike, length: int, largest: int = INT64_MAX
) -> NDArray[np.int64]:
    """Return whole numbers, one per cell or condition, as an int64 array of shape (length,).

    Parameters
    ----------
    largest : int
        Bound on the magnitude, at most that of int64.

    Raises
    ------
    InputError
        For another shape, a type other than integers, or a number too large.
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
        A remedy for the message.

    Raises
    ------
    InputError
        With the bound, if it is not below 2^bits; nan counts as too large.
    """
    if not largest < 2.0**bits:
        raise InputError(
            f"{where}: {what} could reach {largest:.3g}, more than {bits} bits hold; {advice}"
        )
