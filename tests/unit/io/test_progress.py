"""Progress is for terminals, tells shares and time, and leaves nothing behind."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

import isdp.io.progress as module
from isdp import GeneralizedLaplace, Invariants, mcmc
from isdp.exact import release
from isdp.io.progress import announce, progress, tracked


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(module, "SHOWN_AFTER", 0.0)
    screen = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=screen))
    return screen


def shown(text):
    """What is left on the line in the end."""
    line = ""
    for part in text.split("\r"):
        line = part + line[len(part) :]
    return line.strip()


def test_shares_and_time_are_shown_and_no_count(terminal):
    with progress("reading", 73_912) as at:
        for done in (10_000, 36_956, 73_912):
            at(done)
            at(done)
    text = terminal.getvalue()
    assert "reading: " in text
    assert "left" in text
    assert not any(number in text for number in ("73912", "36956", "73,912", "73.9", "36.9"))
    assert shown(text) == ""


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_nothing_is_left_where_it_ends_early(terminal, error):
    def interrupted():
        for number in tracked("drawing", range(5)):
            if number == 3:
                raise error

    with pytest.raises(error):
        interrupted()
    assert "drawing" in terminal.getvalue()
    assert shown(terminal.getvalue()) == ""
    list(tracked("counting", [1, 2]))  # the next step is shown again
    assert "counting" in terminal.getvalue()


def test_nothing_is_shown_where_it_is_piped(monkeypatch, capsys):
    monkeypatch.setattr(module, "SHOWN_AFTER", 0.0)
    with progress("reading", 10) as at:
        at(5)
    announce("reducing", 75)
    assert capsys.readouterr().err == ""


def test_a_step_whose_progress_is_unknown_is_announced(terminal, monkeypatch):
    monkeypatch.setattr(module, "SHOWN_AFTER", 1.0)
    announce("reducing", 0.9)
    assert terminal.getvalue() == ""
    announce("reducing", 75.4)
    assert terminal.getvalue().startswith("reducing: about 75 s, until about ")


def test_a_step_of_unknown_length_shows_nothing(terminal):
    with progress("reading", 0) as at:
        at(5)
    assert terminal.getvalue() == ""


def test_a_short_step_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(module, "SHOWN_AFTER", 1.0)
    with progress("reading", 10) as at:
        at(5)
    assert shown(terminal.getvalue()) == ""


def test_a_step_within_a_step_shows_nothing_of_its_own(terminal):
    with progress("reading", 10) as at:
        for number in tracked("counting", [1, 2]):
            at(number)
    assert "reading" in terminal.getvalue()
    assert "counting" not in terminal.getvalue()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: release(Invariants.partition(np.arange(90) % 3), "1/4"),
        lambda: release(Invariants.margins((2, 3)), "1/2", draws=3),
        lambda: release(Invariants.total(40), rho="1/8"),
        lambda: mcmc.sample(
            np.random.default_rng(1), Invariants.total(3), GeneralizedLaplace(1.0), draws=2
        ),
    ],
    ids=["disjoint totals", "overlapping totals", "Gaussian", "chains"],
)
def test_draws_show_their_progress(terminal, draw):
    draw()
    assert "left" in terminal.getvalue()
    assert shown(terminal.getvalue()) == ""
