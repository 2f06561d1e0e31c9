"""Progress is for terminals, tells shares and time, and leaves nothing behind."""

import io
import time
from contextlib import redirect_stderr

import pytest

from isdp.io.progress import SHOWN_AFTER, announce, progress, tracked


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_a_terminal(block):
    """All that comes on a terminal."""
    with redirect_stderr(Terminal()) as screen:
        block()
    return screen.getvalue()


def shown(text):
    """What is left on the line in the end."""
    line = ""
    for part in text.split("\r"):
        line = part + line[len(part) :]
    return line.strip()


def wait():
    time.sleep(SHOWN_AFTER + 0.1)


def test_shares_and_time_are_shown_and_no_count():
    def block():
        with progress("reading", 73_912) as at:
            wait()
            for done in (36_956, 73_912):
                at(done)
                at(done)

    text = on_a_terminal(block)
    assert "reading: " in text
    assert "left" in text
    assert not any(number in text for number in ("73912", "36956", "73,912", "73.9", "36.9"))
    assert shown(text) == ""


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_nothing_is_left_where_it_ends_early(error):
    def interrupted():
        for number in tracked("drawing", range(5)):
            wait()
            if number == 1:
                raise error

    def block():
        with pytest.raises(error):
            interrupted()

    def another():
        for _ in tracked("counting", [1, 2]):
            wait()

    text = on_a_terminal(block)
    assert "drawing" in text
    assert shown(text) == ""
    assert "counting" in on_a_terminal(another)  # the next step is shown again


def test_nothing_is_shown_where_it_is_piped(capsys):
    with progress("reading", 10) as at:
        wait()
        at(5)
    announce("reducing", 75)
    assert capsys.readouterr().err == ""


def test_a_step_whose_progress_is_unknown_is_announced():
    assert on_a_terminal(lambda: announce("reducing", 0.9 * SHOWN_AFTER)) == ""
    assert "reducing: about 75 s" in on_a_terminal(lambda: announce("reducing", 75.4))


def test_a_step_within_a_step_shows_nothing_of_its_own():
    def block():
        with progress("reading", 10) as at:
            for number in tracked("counting", [1, 2]):
                wait()
                at(number)

    text = on_a_terminal(block)
    assert "reading" in text
    assert "counting" not in text
