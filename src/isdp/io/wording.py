"""Numbers with nouns in the singular or the plural."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with a noun, whose plural has an s by default.

    Examples
    --------
    >>> counted(1, "cell"), counted(1200, "cell"), counted(0, "count is", "counts are")
    ('1 cell', '1,200 cells', '0 counts are')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
