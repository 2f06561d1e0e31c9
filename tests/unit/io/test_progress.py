"""Progress is for terminals, tells shares and time, and leaves nothing behind."""

import builtins
import io
from types import SimpleNamespace

import pytest

import isdp.io.progress as module
from isdp.io.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(module, "SHOWN_AFTER", 0.0)
    screen = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=screen))
    return screen


@pytest.fixture(params=["tqdm", "plain"])
def either(request, monkeypatch):
    if request.param == "plain":
        real = builtins.__import__

        def without(name, *rest):
            if name == "tqdm":
                raise ModuleNotFoundError("No module named 'tqdm'", name="tqdm")
            return real(name, *rest)

        monkeypatch.setattr(builtins, "__import__", without)


def shown(text):
    """What is left on the line in the end."""
    line = ""
    for part in text.split("\r"):
        line = part + line[len(part) :]
    return line.strip()


@pytest.mark.usefixtures("either")
def test_shares_and_time_are_shown_and_no_count(terminal):
    with progress("reading", 73_912) as at:
        for done in (10_000, 36_956, 73_912):
            at(done)
            at(done)
    text = terminal.getvalue()
    assert "reading: " in text
    assert "50" in text
    assert "left" in text
    assert not any(number in text for number in ("73912", "36956", "73,912", "73.9", "36.9"))
    assert shown(text) == ""


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_nothing_is_left_where_it_ends_early(terminal, error):
    def interrupted():
        with progress("reading", 10) as at:
            at(5)
            at(6)
            raise error

    with pytest.raises(error):
        interrupted()
    assert "reading" in terminal.getvalue()
    assert shown(terminal.getvalue()) == ""


@pytest.mark.usefixtures("either")
def test_nothing_is_shown_where_it_is_piped(monkeypatch):
    monkeypatch.setattr(module, "SHOWN_AFTER", 0.0)
    pipe = io.StringIO()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=pipe))
    with progress("reading", 10) as at:
        at(5)
    assert pipe.getvalue() == ""


def test_a_step_of_unknown_length_shows_nothing(terminal):
    with progress("reading", 0) as at:
        at(5)
    assert terminal.getvalue() == ""


def test_a_short_step_shows_nothing(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=screen))
    with progress("reading", 10) as at:
        at(5)
    assert screen.getvalue().strip() == ""
