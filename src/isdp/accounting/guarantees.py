"""Privacy guarantees as immutable values, from which all text about privacy is generated.

Every mechanism has a property `guarantee`, a `PrivacyGuarantee`. Where the guarantee depends on
further arguments, a method or function `guarantee_of` takes them: `isdp.swapping.guarantee_of`, and
the methods of `isdp.topdown.Budget` and of the systems of `isdp.compare`.

The numbers are upper bounds. They are never rounded down, neither in print nor in products.
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
COUNTED = ("person", "household")  # metrics that count changes; all others are distances
GROWTHS: tuple[Growth, ...] = ("linear", "quadratic", "none")
EQUAL_INVARIANTS = "two tables with equal invariants"


@dataclass(frozen=True)
class PrivacyGuarantee:
    """Bound on the difference of the output distributions of a release for two tables.

    Parameters
    ----------
    flavour : {"pure", "approximate", "zCDP"}
        epsilon-DP, (epsilon, delta)-DP or rho-zCDP (zero-concentrated).
    loss : int, float or Fraction
        The bound per unit: epsilon, or rho with zCDP; 0 or more. A float stands for the shortest
        decimal number that denotes it.
    metric : str
        Distance between two tables: "l1", "l2", ..., or the number of persons ("person") or
        households ("household") that change.
    per_person : int, float, Fraction or None
        Number of units for one person who changes cell: 2 in l1, sqrt 2 in l2, 2 in squared l2;
        None if there is no such number.
    source : str
        The theorem and its paper.
    delta : int, float or Fraction
        Below 1; positive for the approximate flavour alone.
    growth : {"linear", "quadratic", "none"}
        Growth of the bound with the distance. The unit is the distance itself if "linear", its
        square if "quadratic"; with "none" the bound holds within distance 1 and no further.
    relation : str
        The pairs of tables that are compared.
    held : str
        The part that is published unchanged, outside the guarantee; "" for nothing.
    why_not_per_person : str
        The reason if `per_person` is None.

    Raises
    ------
    InputError
        If a number is out of its range, a word is unknown, delta and flavour do not fit together,
        or `per_person` and its reason are both given or both missing.

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
                f"guarantee: delta {self.delta} does not fit the flavour {self.flavour!r}; it is "
                f"positive for 'approximate' and 0 for all others"
            )
        if self.flavour == "approximate" and self.growth != "none":
            raise InputError("guarantee: epsilon and delta hold at one distance; say growth='none'")
        if (self.per_person is None) != bool(self.why_not_per_person):
            raise InputError("guarantee: give per_person, or None and the reason, and not both")
        if self.per_person is not None:
            check_non_negative("guarantee: per_person", self.per_person)

    @property
    def parameter(self) -> str:
        """Name of the loss: "epsilon" or "rho"."""
        return FLAVOURS[self.flavour]

    @property
    def unit(self) -> str:
        """Unit of the loss, such as "unit of squared l2 distance" or "person"."""
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
        """Bound for two tables at a distance, in the metric (not squared); never rounded down.

        Returns
        -------
        Fraction where loss and distance are exact, else float; infinite where that ends

        Raises
        ------
        InputError
            If the distance is negative, or above 1 for a guarantee that does not reach so far.
        """
        check_non_negative("guarantee: distance", distance)
        if self.growth == "none":
            if distance > 1:
                raise InputError(
                    f"guarantee: nothing is known at distance {distance}, only up to 1; compose "
                    f"several, or take the zCDP or pure guarantee behind it"
                )
            return self.loss
        power = 2 if self.growth == "quadratic" else 1
        return upper_product(self.loss, *[distance] * power)

    @property
    def loss_per_person(self) -> Number | None:
        """Loss for one person who changes cell; None if `per_person` is None."""
        if self.per_person is None:
            return None
        return (
            self.loss_at(self.per_person)
            if self.growth == "none"
            else upper_product(self.loss, self.per_person)
        )

    def statement(self) -> str:
        """State the guarantee in one sentence, with numbers rounded up."""
        delta = "" if self.flavour == "zCDP" else f", delta = {upper_decimal(self.delta)}"
        name = "zCDP" if self.flavour == "zCDP" else "differential privacy"
        text = (
            f"{name} with {self.parameter} at most {upper_decimal(self.loss)} per {self.unit} "
            f"between {self.relation}{delta} ({self.source}); {self._person()}"
        )
        return text + (f"; published as it is and not protected: {self.held}" if self.held else "")

    def _person(self) -> str:
        if self.per_person is None or self.loss_per_person is None:
            return f"no figure per person: {self.why_not_per_person}"
        each = f"{self.parameter} per person is at most {upper_decimal(self.loss_per_person)}"
        if self.metric in COUNTED:
            return f"for one person who changes cell, {each}"
        squared = "squared " if self.growth == "quadratic" else ""
        return (
            f"{self._change(self.per_person)} moves the {squared}{self.metric} distance by "
            f"{upper_decimal(self.per_person)}, so {each}"
        )

    def _change(self, per_person: Number) -> str:
        """Describe the change of the table that `per_person` measures."""
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
        """Return all parts for a file: exact numbers as text, and decimals rounded up."""
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
    """Read a record of `PrivacyGuarantee.record`; bounds of delta stay bounds.

    Raises
    ------
    InputError
        If it is not such a record, or its numbers do not fit together.
    """
    try:
        parameter = FLAVOURS[record["flavour"]]
        units = record["units_per_person"]
        return PrivacyGuarantee(
            record["flavour"],
            _number(record[parameter]),
            record["metric"],
            None if units is None else _number(units),
            record["source"],
            delta=_number(record["delta"]),
            growth=record["growth"],
            relation=record["relation"],
            held=record["held"],
            why_not_per_person=""
            if units is not None
            else str(record.get("why_not_per_person") or "not stated in the record"),
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as wrong:
        raise InputError(f"guarantee: this is no record of one ({wrong!r})") from None


def _number(text: str) -> Fraction:
    """Exact value of a number as `record` writes it; of a float, its shortest decimals."""
    if not isinstance(text, str) or not NUMBER.fullmatch(text):
        raise ValueError(f"no number: {str(text)[:40]!r}")
    return Fraction(text)


def upper_decimal(value: Number, digits: int = 6) -> str:
    """Write a number from 0 up in decimals, rounded up where it does not end.

    Parameters
    ----------
    value : int, float or Fraction
        A float stands for the shortest decimal number that denotes it.
    digits : int
        Significant digits, at least 1; whole numbers keep all of theirs.

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
    if places <= 0:  # so large that the digits end before the point
        return str(math.ceil(exact))
    steps = math.ceil(exact * 10**places)  # in units of 10^-places, never below the number
    if places < digits + 5:
        whole, rest = divmod(steps, 10**places)
        return f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".")
    head = str(steps)
    mantissa = f"{head[0]}.{head[1:]}".rstrip("0").rstrip(".")
    return f"{mantissa}e{len(head) - 1 - places:+03d}"


def upper_product(*factors: Number) -> Number:
    """Exact product, or the nearest float that is not below it if a factor is a float.

    Infinite beyond floating point, as `upper_sum`.
    """
    return _from_above(math.prod((as_fraction(x) for x in factors), start=Fraction(1)), factors)


def upper_sum(*terms: Number) -> Number:
    """Exact sum, or the nearest float that is not below it if a term is a float."""
    return _from_above(sum((as_fraction(x) for x in terms), start=Fraction(0)), terms)


def as_fraction(value: Number) -> Fraction:
    """Exact value; a float stands for the shortest decimal number that denotes it."""
    return Fraction(value if isinstance(value, Rational) else repr(float(value)))


def _exponent(exact: Fraction) -> int:
    """Whole e with 10^e <= exact < 10^(e + 1)."""
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
