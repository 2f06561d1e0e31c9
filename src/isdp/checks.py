"""Checks of arguments, which return a valid value and raise `InputError` for any other value."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from numbers import Rational, Real
from typing import TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isdp.errors import InputError

ExactNumber = Fraction | int | str | float
T = TypeVar("T")

INT64_MAX: int = np.iinfo(np.int64).max
MAX_EXPONENT = 400  # maximum decimal exponent of a number in a string
MAX_SHOWN = 100  # maximum number of characters of a value in a message
MIN_SCALE, MAX_SCALE = 1e-100, 1e100


def is_number(value: object) -> TypeGuard[float]:
    """Return True if a value is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_integer(
    where: str, name: str, value: object, minimum: int = 0, maximum: float = math.inf
) -> int:
    """Convert a number that equals an integer from `minimum` to `maximum`, such as 3.0, to an int.

    Raise `InputError` for any other value, including a bool. The message names the caller `where`
    and the argument `name`.

    Examples
    --------
    >>> check_integer("exact", "n_draws", 3.0)
    3
    """
    # `value % 1` is nan, and therefore true, for nan and infinity
    if not is_number(value) or value % 1 or not minimum <= value <= maximum:
        limits = f"of {minimum} or more" if maximum == math.inf else f"from {minimum} to {maximum}"
        raise _refusal(f"{where}: {name}", f"an integer {limits}", value)
    return int(value)


def check_positive(name: str, value: object) -> float:
    """Return a positive finite number unchanged, or raise `InputError`."""
    if not is_number(value) or not 0 < value < math.inf:
        raise _refusal(name, "a positive number", value)
    return value


def check_positive_float(name: str, value: object) -> float:
    """Return a number from 1e-100 to 1e100 as a float, or raise `InputError`.

    The square of a number outside this range could overflow or underflow.
    """
    return float(check_in_range(name, check_positive(name, value), MIN_SCALE, MAX_SCALE))


def check_non_negative(name: str, value: object, below: float = math.inf) -> float:
    """Return a number x with 0 <= x < `below` unchanged, or raise `InputError`."""
    if not is_number(value) or not 0 <= value < below:
        limit = "" if below == math.inf else f" and below {below}"
        raise _refusal(name, f"a finite number of 0 or more{limit}", value)
    return value


def check_in_range(name: str, value: object, low: float, high: float) -> float:
    """Return a number from `low` to `high` unchanged, or raise `InputError`."""
    if not is_number(value) or not low <= value <= high:
        raise _refusal(name, f"a number between {low:g} and {high:g}", value)
    return value


def check_probability(name: str, value: object) -> float:
    """Return a number strictly between 0 and 1 as a float, or raise `InputError`.

    A fraction that rounds to 0 or 1 is refused too.
    """
    if not is_number(value) or not 0 < value < 1:
        raise _refusal(name, "a number between 0 and 1", value)
    if not 0 < float(value) < 1:
        raise InputError(f"{name} rounds to 0 or 1. Give a number that is farther from 0 and 1")
    return float(value)


def check_choice(name: str, value: T, known: Collection[object]) -> T:
    """Return one of the known values unchanged, or raise `InputError`."""
    if value not in known:
        raise _refusal(name, f"one of {', '.join(map(str, known))}", value)
    return value


def parse_rational(name: str, value: object) -> Fraction:
    """Convert a number to the exact fraction that its decimal or fractional form denotes.

    Raise `InputError` if the value does not denote a finite number.

    Parameters
    ----------
    value : Fraction, int, str or float
        A float denotes its shortest decimal form. A string may be "1/4" or "0.25".
    """
    try:
        if not isinstance(value, bool) and isinstance(value, Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        if not is_number(value) and not isinstance(value, str):
            raise ValueError
        text = str(value)
        _, marked, exponent = text.lower().partition("e")
        # Fraction computes all digits of a power of ten, which can need much memory
        if marked and abs(int(exponent)) > MAX_EXPONENT:
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise _refusal(name, "a number such as 0.25, '1/4' or Fraction(1, 4)", value) from None


def parse_positive(name: str, value: ExactNumber) -> tuple[float, Fraction]:
    """Convert a positive number to a float and, as `parse_rational` does, to an exact fraction.

    The first result is the value itself if it is an int or a float. Raise `InputError` if the value
    is not a positive number within the range of floats.
    """
    exact = parse_rational(name, value)
    try:
        number = float(exact) if isinstance(value, str | Fraction) else value
    except OverflowError:
        number = math.inf
    if exact <= 0 or not 0 < number < math.inf:
        raise _refusal(name, "a positive number", value)
    return number, exact


def _refusal(name: str, wanted: str, value: object) -> InputError:
    try:
        shown = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # Python converts no integer of more than 4300 digits to a string
        shown = "a number of thousands of digits"
    if len(shown) > MAX_SHOWN:
        shown = f"{shown[:MAX_SHOWN]}..."
    return InputError(f"{name} must be {wanted}, got {shown}")


def check_integer_array(
    name: str,
    values: ArrayLike,
    shape: Sequence[int | None],
    minimum: int = -INT64_MAX,
    maximum: int = INT64_MAX,
) -> NDArray[np.int64]:
    """Return integers as an int64 array, which is a copy.

    Raise `InputError` if an entry is not an integer from `minimum` to `maximum`, or the array has
    another shape. In `shape`, None stands for any positive length.
    """
    array = np.asarray(values)
    lengths = zip(shape, array.shape, strict=False)
    fits = all(length > 0 if wanted is None else length == wanted for wanted, length in lengths)
    if array.ndim != len(shape) or not fits:
        wanted = ", ".join("any length" if length is None else str(length) for length in shape)
        raise InputError(f"{name} has shape {array.shape}. Give an array of shape ({wanted})")
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{name} has type {array.dtype}. Give integers")
    if array.size and not minimum <= int(array.min()) <= int(array.max()) <= maximum:
        raise InputError(f"{name} must have integers from {minimum} to {maximum}")
    return array.astype(np.int64)


def refuse_overflow(where: str, noun: str, bound: float, bits: int, advice: str) -> None:
    """Raise `InputError` unless the bound on the magnitude of numbers is below 2^bits.

    The message begins with the caller or the argument, such as "exact". The noun names the numbers,
    such as "noise in 5 cells". The advice, such as "Use a larger epsilon.", comes last.
    """
    if not bound < 2.0**bits:
        raise InputError(f"{where}: {noun} could exceed {bits} bits (bound {bound:.3g}). {advice}")
