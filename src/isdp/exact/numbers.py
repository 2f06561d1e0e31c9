"""Numbers read as what they are written as: rational numbers."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational, Real

from isdp.errors import InputError

LARGEST_EXPONENT = 10_000


def exact_number(name: str, value) -> Fraction:
    """Read a number as a fraction.

    Parameters
    ----------
    name : str
        What it is, for the message.
    value : Fraction, int, str or float
        A float stands for its shortest decimal form; a string may be "1/4" or "0.25".

    Raises
    ------
    InputError
        If it is no number.
    """
    try:
        if isinstance(value, bool) or not isinstance(value, Real | str):
            raise ValueError
        return Fraction(value) if isinstance(value, Rational) else _read(str(value))
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{name} must be a number such as 0.25, '1/4' or Fraction(1, 4), got {value!r}"
        ) from None


def _read(text: str) -> Fraction:
    """Read a number; 0 for one whose exponent alone puts it out of every range.

    Its power of ten may have millions of digits, where Python reads a few thousand at most in all
    the rest of a number.
    """
    return Fraction(0) if out_of_reach(text) else Fraction(text)


def out_of_reach(text: str) -> bool:
    """Whether the exponent alone puts a number out of every range, so that it is not to be read.

    Raises
    ------
    ValueError
        If the exponent is no whole number.
    """
    _, marked, exponent = text.lower().partition("e")
    return bool(marked) and abs(int(exponent)) > LARGEST_EXPONENT
