"""Numbers with their nouns, for messages and pages."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun in the singular or the plural.

    Parameters
    ----------
    noun : str
        In the singular.
    plural : str, optional
        By default the noun with an s.

    Examples
    --------
    >>> counted(1, "cell"), counted(1200, "cell"), counted(0, "count is", "counts are")
    ('1 cell', '1,200 cells', '0 counts are')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
