"""Privacy guarantees as immutable values, from which all text about privacy is generated.

Every mechanism has the property `guarantee`. If a guarantee depends on further arguments, a
function or method `guarantee_of` takes them. The numbers of a guarantee are upper bounds.
Statements and products never round them down.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal

from isdp.checks import check_choice, check_non_negative
from isdp.errors import InputError

Number = int | float | Fraction

Flavour = Literal["pure", "approximate", "zCDP"]
Growth = Literal["linear", "quadratic", "none"]
FLAVOURS: dict[Flavour, str] = {"pure": "epsilon", "approximate": "epsilon", "zCDP": "rho"}
NUMBER = re.compile(r"[0-9]{1,400}(/[0-9]{1,400}|(\.[0-9]{1,400})?(e[+-]?[0-9]{1,3})?)")
MAX_TEXT = 10_000  # maximum number of characters of a string in a record
COUNTED = ("person", "household")  # metrics that count changed persons or households
GROWTHS: tuple[Growth, ...] = ("linear", "quadratic", "none")
EQUAL_INVARIANTS = "two tables with equal invariants"


@dataclass(frozen=True)
class PrivacyGuarantee:
    """Upper bound on the privacy loss of a release between two tables.

    Parameters
    ----------
    flavour : {"pure", "approximate", "zCDP"}
        The definition: epsilon-differential privacy, (epsilon, delta)-differential privacy, or
        zero-concentrated differential privacy (rho-zCDP).
    loss : int, float or Fraction
        Epsilon or rho per unit of distance, 0 or more. A float is read as its shortest decimal
        form.
    metric : str
        The distance between two tables, which is a norm ("l1", "l2", ...) or a number of changed
        persons ("person") or households ("household").
    per_person : int, float, Fraction or None
        The distance between two tables if one person changes cell, in the unit of the loss. This
        distance is 2 in l1, sqrt(2) in l2 and 2 in squared l2. None denotes an unknown distance.
    source : str
        The theorem and its paper.
    delta : int, float or Fraction
        Delta of an approximate guarantee, below 1. It is 0 for the other definitions.
    growth : {"linear", "quadratic", "none"}
        With "linear" the loss is per unit of distance, and with "quadratic" per unit of squared
        distance. With "none" the bound holds only up to distance 1.
    relation : str
        The pairs of tables that are compared.
    held : str
        The part of the table that is published unchanged and has no guarantee.
    why_not_per_person : str
        The reason why `per_person` is None, or "" if it is a number.

    Raises
    ------
    InputError
        If a number is out of range, a word is unknown, or `delta` contradicts `flavour`. The error
        is also raised unless exactly one of `per_person` and `why_not_per_person` is given.

    Examples
    --------
    >>> PrivacyGuarantee("pure", Fraction(1, 3), "l1", 2, "ISDP, Theorem 10").loss_per_person
    Fraction(2, 3)
    """

    flavour: Flavour
    loss: Number
    metric: str
    per_person: Number | None
    source: str
    delta: Number = 0
    growth: Growth = "linear"
    relation: str = EQUAL_INVARIANTS
    held: str = ""
    why_not_per_person: str = ""

    def __post_init__(self) -> None:
        check_choice("guarantee: flavour", self.flavour, FLAVOURS)
        check_choice("guarantee: growth", self.growth, GROWTHS)
        check_non_negative("guarantee: loss", self.loss)
        check_non_negative("guarantee: delta", self.delta, below=1)
        if (self.delta > 0) != (self.flavour == "approximate"):
            raise InputError(
                f"guarantee: delta is {self.delta!s:.20} and flavour is {self.flavour!r}. Give "
                f"a positive delta for 'approximate', and 0 for other flavours"
            )
        if self.flavour == "approximate" and self.growth != "none":
            raise InputError(
                "guarantee: an approximate guarantee is valid at one distance only. Set "
                "growth='none'"
            )
        if (self.per_person is None) != bool(self.why_not_per_person):
            raise InputError("guarantee: give either per_person or why_not_per_person")
        if self.per_person is not None:
            check_non_negative("guarantee: per_person", self.per_person)

    @property
    def parameter(self) -> str:
        """The name of the loss, "epsilon" or "rho"."""
        return FLAVOURS[self.flavour]

    @property
    def unit(self) -> str:
        """The unit of the loss, such as "unit of squared l2 distance" or "person"."""
        if self.metric not in COUNTED:
            return {
                "linear": f"unit of {self.metric} distance",
                "quadratic": f"unit of squared {self.metric} distance",
                "none": f"change of at most 1 in {self.metric} distance",
            }[self.growth]
        return {
            "linear": self.metric,
            "quadratic": f"squared number of {self.metric}s",
            "none": f"change of one {self.metric}",
        }[self.growth]

    def loss_at(self, distance: Number) -> Number:
        """Bound the loss between two tables at a given distance, which is not squared.

        Returns
        -------
        Fraction, or float if the loss or the distance is a float
            The bound, rounded up. It is infinite after an overflow.

        Raises
        ------
        InputError
            If the distance is negative, or if it is above 1 and the growth is "none".
        """
        check_non_negative("guarantee: distance", distance)
        if self.growth == "none":
            if distance > 1:
                raise InputError(
                    f"guarantee: the bound is valid up to distance 1, not at {distance}. Use the "
                    f"pure or zCDP guarantee before its conversion"
                )
            return self.loss
        power = 2 if self.growth == "quadratic" else 1
        return upper_product(self.loss, *[distance] * power)

    @property
    def loss_per_person(self) -> Number | None:
        """The loss if one person changes cell, or None if `per_person` is None."""
        if self.per_person is None:
            return None
        if self.growth == "none":
            return self.loss_at(self.per_person)
        return upper_product(self.loss, self.per_person)

    def statement(self) -> str:
        """State the guarantee in one sentence, with numbers rounded up."""
        delta = "" if self.flavour == "zCDP" else f", delta = {upper_decimal(self.delta)}"
        name = "zCDP" if self.flavour == "zCDP" else "differential privacy"
        text = (
            f"{name} with {self.parameter} at most {upper_decimal(self.loss)} per {self.unit} "
            f"between {self.relation}{delta} ({self.source}); {self._person()}"
        )
        return text + (f"; published as it is and not protected: {self.held}" if self.held else "")

    def person_statement(self) -> str:
        """State the loss per person, rounded up, or the reason why there is none."""
        loss = self.loss_per_person
        if loss is None:
            return f"no figure per person: {self.why_not_per_person}"
        delta = f" at delta = {upper_decimal(self.delta)}" if self.delta else ""
        return f"{self.parameter} per person is at most {upper_decimal(loss)}{delta}"

    def _person(self) -> str:
        each = self.person_statement()
        if self.per_person is None:
            return each
        if self.metric in COUNTED:
            return f"for one person who changes cell, {each}"
        squared = "squared " if self.growth == "quadratic" else ""
        return (
            f"{self._change(self.per_person)} moves the {squared}{self.metric} distance by "
            f"{upper_decimal(self.per_person)}, so {each}"
        )

    def _change(self, per_person: Number) -> str:
        if self.relation != EQUAL_INVARIANTS:
            return "one person who changes cell"
        power = 2 if self.metric == "l2" and self.growth == "linear" else 1
        counts = round(float(per_person) ** power)
        if counts < 2:
            return "one person more or fewer in a cell without a total"
        if counts > 2:
            return "one person who changes cell, with the fewest others that the invariants force,"
        return "one person who changes cell and leaves the invariants as they are"

    def record(self) -> dict[str, str | None]:
        """Return all fields as strings: numbers are exact, and decimals are rounded up."""
        person = self.loss_per_person
        return {
            "flavour": self.flavour,
            self.parameter: str(self.loss),
            f"{self.parameter}_decimal": upper_decimal(self.loss),
            "delta": upper_decimal(self.delta),
            "unit": self.unit,
            "metric": self.metric,
            "units_per_person": None if self.per_person is None else str(self.per_person),
            "growth": self.growth,
            f"{self.parameter}_per_person": None if person is None else upper_decimal(person),
            "why_not_per_person": self.why_not_per_person,
            "relation": self.relation,
            "held": self.held,
            "source": self.source,
            "statement": self.statement(),
        }


def guarantee_from_record(record: Mapping[str, Any]) -> PrivacyGuarantee:
    """Rebuild a guarantee from the result of `PrivacyGuarantee.record`.

    Raises
    ------
    InputError
        If a field of the record is missing or invalid.
    """
    try:
        for name in ("metric", "source", "relation", "held"):
            if not isinstance(record[name], str):
                raise TypeError(f"{name} is not a string")
        parameter = FLAVOURS[record["flavour"]]
        units = record["units_per_person"]
        return PrivacyGuarantee(
            record["flavour"],
            _number(record[parameter]),
            _text(record["metric"]),
            None if units is None else _number(units),
            _text(record["source"]),
            delta=_number(record["delta"]),
            growth=record["growth"],
            relation=_text(record["relation"]),
            held=_text(record["held"]),
            why_not_per_person=""
            if units is not None
            else str(record.get("why_not_per_person") or "not stated in the record"),
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as wrong:
        raise InputError(
            f"guarantee: the record is invalid ({wrong!r}). Use an unchanged certificate"
        ) from None


def _number(text: object) -> Fraction:
    if not isinstance(text, str) or not NUMBER.fullmatch(text):
        raise ValueError(f"not a number: {str(text)[:40]!r}")
    return Fraction(text)


def _text(text: object) -> str:
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise ValueError(f"not a string of at most {MAX_TEXT} characters: {str(text)[:40]!r}")
    return text


def upper_decimal(value: Number, digits: int = 6) -> str:
    """Write a number of 0 or more as a decimal, rounded up.

    Parameters
    ----------
    value : int, float or Fraction
        A float is read as its shortest decimal form.
    digits : int
        Number of significant digits, at least 1. Integers keep all their digits.

    Examples
    --------
    >>> [upper_decimal(value) for value in (Fraction(1, 3), 0.192, 1234567, 1.00000001e-14)]
    ['0.333334', '0.192', '1234567', '1.00001e-14']
    """
    check_non_negative("guarantee: number", value)
    exact = as_fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator)
    places = digits - 1 - _exponent(exact)
    if places <= 0:  # all significant digits are before the decimal point
        return str(math.ceil(exact))
    steps = math.ceil(exact * 10**places)  # the number in units of 10^-places, rounded up
    if places < digits + 5:
        whole, rest = divmod(steps, 10**places)
        return f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".")
    head = str(steps)
    mantissa = f"{head[0]}.{head[1:]}".rstrip("0").rstrip(".")
    return f"{mantissa}e{len(head) - 1 - places:+03d}"


def upper_product(*factors: Number) -> Number:
    """Return the exact product. If a factor is a float, round it up to a float or to infinity."""
    return _from_above(math.prod((as_fraction(x) for x in factors), start=Fraction(1)), factors)


def upper_sum(*terms: Number) -> Number:
    """Return the exact sum. If a term is a float, round the sum up to a float or to infinity."""
    return _from_above(sum((as_fraction(x) for x in terms), start=Fraction(0)), terms)


def as_fraction(value: Number) -> Fraction:
    """Return the exact value of a number. A float is read as its shortest decimal form."""
    return Fraction(value if isinstance(value, Rational) else repr(float(value)))


def _exponent(exact: Fraction) -> int:
    """Return the integer e with 10^e <= exact < 10^(e + 1)."""
    guess = len(str(exact.numerator)) - len(str(exact.denominator))
    return guess if exact >= Fraction(10) ** guess else guess - 1


def _from_above(exact: Fraction, terms: tuple[Number, ...]) -> Number:
    if not any(isinstance(term, float) for term in terms):
        return exact
    try:
        near = float(exact)
    except OverflowError:
        return math.inf
    return near if as_fraction(near) >= exact else math.nextafter(near, math.inf)
