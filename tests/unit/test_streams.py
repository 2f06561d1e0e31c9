import pytest

from isdp import InputError
from isdp.streams import stream


def numbers(*words):
    return stream(*words).integers(0, 2**62, 4).tolist()


def test_a_stream_belongs_to_its_job():
    assert numbers(1, "counties", "IL") == numbers(1, "counties", "IL")
    others = [
        numbers(2, "counties", "IL"),
        numbers(1, "counties", "TX"),
        numbers(1, "margins", "IL"),
        numbers(1, "counties", "IL", 1),
    ]
    assert numbers(1, "counties", "IL") not in others
    assert len({tuple(other) for other in others}) == 4


@pytest.mark.parametrize("words", [(-1, "a"), (1.5, "a"), (True, "a"), (1, "a", "b", -2)])
def test_bad_seeds_are_refused(words):
    with pytest.raises(InputError, match="seed: "):
        stream(*words)
