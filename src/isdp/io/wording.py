"""Numbers with nouns in the singular or the plural, and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with a noun. By default, the plural has an s.

    Examples
    --------
    >>> counted(1, "cell"), counted(1200, "cell"), counted(0, "count is", "counts are")
    ('1 cell', '1,200 cells', '0 counts are')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listed(words: Sequence[str]) -> str:
    """Join words by commas, and the last word by "and".

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def capitalized(sentence: str) -> str:
    """Write the first letter of a sentence in upper case."""
    return sentence[:1].upper() + sentence[1:]
