"""Numbers and words of the run of the tests, compared with those of the last commit.

Equal seeds give equal tables. A change of a number that nobody meant to change is therefore an
error, and a change that is meant shows in the difference of the recorded file.
"""

import zlib

import numpy as np

MAX_WORDS = 6  # longer cells are sentences


def digest(values) -> str:
    """A checksum of words, and of numbers to 5 digits, so that rounding errors do not show."""
    return f"{zlib.crc32(repr([as_written(each) for each in values]).encode()):08x}"


def as_written(value):
    if isinstance(value, bool | np.bool_ | str) or not np.isscalar(value):
        return str(value)
    return "0" if abs(value) < 1e-9 else f"{value:.5g}"


def digests_of(table, left_out=()):
    """The checksum of each column of a table but those of sentences."""
    for column in table.columns.difference(left_out, sort=False):
        if all(len(str(cell).split()) <= MAX_WORDS for cell in table[column]):
            yield column, digest(table[column])


def check_recorded(found, known, folder):
    """Compare a table with a recorded file, and write it into a folder to be copied from there."""
    made = folder / known.name
    found.to_csv(made, index=False, lineterminator="\n")
    lines, recorded = made.read_text().splitlines(), known.read_text().splitlines()
    changed = sorted(set(lines) ^ set(recorded), key=lambda line: line.split(",")[0])
    advice = f"If all of these changes are meant: cp {made} {known}"
    assert lines == recorded, "\n".join([*changed, advice])
