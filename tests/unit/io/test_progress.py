"""Progress is for terminals, tells shares and time, and leaves nothing behind."""

import builtins
import io
import time
from contextlib import nullcontext
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import isdp.io.progress as module
from isdp import GeneralizedGaussian, GeneralizedLaplace, Invariants, mcmc
from isdp.exact import (
    choose,
    klein,
    release,
    secure_compositions,
    secure_klein,
    staged,
    sums,
    tabled,
    tries,
)
from isdp.exact.bounded import BoundedSampler
from isdp.exact.coins import _Words
from isdp.exact.halving import HalvingSampler
from isdp.exact.messages import order, sampler, tree
from isdp.exact.messages.sampler import DynamicSampler
from isdp.exact.staged import StagedSampler, pilot, plan_stages
from isdp.exact.sums import TypeSums
from isdp.exact.tabled import TabledSums
from isdp.io.progress import announced, progress, tracked
from isdp.mcmc import PairedRows, metropolis, paired_meeting_times

SKEW = Invariants([[3, 5, 7, 11]])  # whose first basis is not a short one
LAW = GeneralizedLaplace(1.0)


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


@pytest.mark.parametrize("error", [KeyboardInterrupt, None])
def test_a_step_without_shares_is_announced_with_its_end_and_taken_away(
    terminal, monkeypatch, error
):
    noon = time.mktime((2026, 6, 1, 12, 0, 0, 0, 0, -1))
    monkeypatch.setattr(module.time, "time", lambda: noon)
    with pytest.raises(error) if error else nullcontext(), announced("reducing", 75.4):
        assert shown(terminal.getvalue()) == "reducing: about 75 s, until about 12:01:15"
        with announced("within", 60), progress("within", 10) as at:
            at(5)
        if error:
            raise error
    assert shown(terminal.getvalue()) == ""
    assert "within" not in terminal.getvalue()


def test_nothing_is_announced_that_is_soon_done_or_piped(terminal, monkeypatch):
    monkeypatch.setattr(module, "SHOWN_AFTER", 1.0)
    with announced("reducing", 0.9):
        pass
    assert terminal.getvalue() == ""
    pipe = io.StringIO()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=pipe))
    with announced("reducing", 75):
        pass
    assert pipe.getvalue() == ""


@pytest.mark.parametrize(
    ("where", "step"),
    [
        (klein, lambda: klein.gram_schmidt(SKEW)),
        (metropolis, lambda: mcmc.sample(np.random.default_rng(1), SKEW, LAW, draws=1)),
    ],
)
def test_a_basis_that_takes_long_is_announced_and_no_other(terminal, monkeypatch, where, step):
    monkeypatch.setattr(module, "SHOWN_AFTER", 1.0)
    step()
    assert "basis" not in terminal.getvalue()
    monkeypatch.setattr(where, "basis_seconds", lambda invariants, basis: 17.0)
    step()
    assert "the lattice's basis: about 17 s, until about " in terminal.getvalue()


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


@pytest.mark.usefixtures("either")
def test_a_step_within_a_step_shows_nothing_of_its_own(terminal):
    with progress("reading", 10) as at:
        for number in tracked("counting", [1, 2]):
            at(number)
    assert "reading" in terminal.getvalue()
    assert "counting" not in terminal.getvalue()
    list(tracked("counting", [1, 2]))  # the one after it is shown again
    assert "counting" in terminal.getvalue()


@pytest.mark.usefixtures("either")
def test_a_loop_that_is_left_leaves_nothing(terminal):
    def interrupted():
        for number in tracked("drawing", range(5)):
            if number == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "drawing" in terminal.getvalue()
    assert shown(terminal.getvalue()) == ""
    assert not module._shown


def under_bounds():
    law, lower = GeneralizedLaplace(0.25), np.full(60, -3)
    return BoundedSampler(Invariants.partition(np.arange(60) % 3), law, lower)


bounded = cache(under_bounds)
PAIRS = Invariants([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
TYPES = Invariants.subsets([range(20), range(20, 40), range(0, 40, 2)], 40)
planned = cache(lambda: plan_stages(TYPES))


def improved(columns):
    openness, types = order._Openness(columns, np.ones(9)), 9
    pairs = [(0, 1), *((types + i, i + 2) for i in range(types - 2))]
    order._rotated(openness, types, pairs, np.random.default_rng(1))


LONG = {
    "release, blocks": lambda: release(Invariants.partition(np.arange(90) % 3), "1/4"),
    "release, types": lambda: release(TYPES, "1/4"),
    "release, Gaussian": lambda: release(Invariants.total(40), rho="1/8"),
    "release, overlapping": lambda: release(Invariants.margins((2, 3)), Fraction(1, 2), draws=3),
    "sample, blocks": lambda: sample(Invariants.total(40), GeneralizedLaplace(0.25)),
    "sample, types": lambda: sample(TYPES, GeneralizedLaplace(0.25)),
    "sample, Gaussian": lambda: HalvingSampler(
        Invariants.total(40), GeneralizedGaussian(2.0)
    ).sample(np.random.default_rng(1), 3),
    "sample, sums of types": lambda: TabledSums(TypeSums(PAIRS, [3, 2, 4, 1], Fraction(1))).draw(
        np.random.default_rng(1), 3
    ),
    "release, sums of types": lambda: TypeSums(PAIRS, [3, 2, 4, 1], Fraction(1)).draw(
        _Words(np.random.default_rng(1).bytes), 3
    ),
    "sample, rejection": lambda: StagedSampler(TYPES, GeneralizedLaplace(2.0)).sample(
        np.random.default_rng(1), 3
    ),
    "planning of rejection": lambda: plan_stages(TYPES),
    "pilot of rejection": lambda: pilot(planned(), 2.0, cells=40, most_tries=100),
    "order of sums": lambda: order.merging_order(np.eye(3, 5), np.ones(5)),
    "order of sums, improved": lambda: improved(Invariants.margins((3, 3)).matrix.astype(float)),
    "tree of sums": lambda: tree.lay_out(Invariants.margins((3, 3)), 1),
    "sample, Klein": lambda: sample(Invariants.margins((2, 3)), GeneralizedGaussian(2.0)),
    "sample, mixture": lambda: sample(Invariants.margins((2, 3)), GeneralizedLaplace(1.0, "l2")),
    "sample, messages": lambda: sample(Invariants.margins((3, 3)), GeneralizedLaplace(1.0)),
    "set-up under bounds": under_bounds,
    "sample, bounds": lambda: bounded().sample(np.random.default_rng(1), 1),
    "release, Klein": lambda: release(Invariants.margins((2, 3)), rho="1/8", draws=100_000),
    "messages": lambda: DynamicSampler(Invariants.margins((2, 3)), GeneralizedLaplace(0.5)),
    "coupled chains": lambda: paired_meeting_times(
        np.random.default_rng(1),
        PairedRows(Invariants.margins((2, 3)), GeneralizedLaplace(1.0)),
        lag=2,
        runs=3,
    ),
    "a chain of paired rows": lambda: PairedRows(
        Invariants.margins((2, 3)), GeneralizedLaplace(1.0)
    ).draw(np.random.default_rng(1), 3),
    "chains": lambda: mcmc.sample(
        np.random.default_rng(1), Invariants.total(3), GeneralizedLaplace(1.0), draws=2
    ),
}


ONE_STEP = ("sample, blocks", "sample, types")


def sample(invariants, mechanism):
    return choose(invariants, mechanism).sample(np.random.default_rng(1), 3)


@pytest.mark.parametrize("name", LONG)
def test_what_takes_long_on_large_tables_shows_how_far_it_is(monkeypatch, terminal, name):
    # beforehand: to set them up are other cases
    bounded()
    planned()
    tree._laid_out.cache_clear()  # other tests have laid out these tables, and then nothing is long
    shares = []

    class Line(module._Line):
        def at(self, done):
            shares.append(done / self.total)

    monkeypatch.setattr(module, "_Line", Line)
    monkeypatch.setattr(secure_compositions, "TOGETHER", 10)
    monkeypatch.setattr(secure_klein, "NUMBERS_AT_ONCE", 100_000)
    monkeypatch.setattr(sums, "AT_ONCE", 4)
    monkeypatch.setattr(staged, "TRIES_AT_ONCE", 7)
    for where, parts in ((sampler, "DRAWS"), (tabled, "SUMS"), (tries, "NUMBERS")):
        monkeypatch.setattr(where, f"{parts}_AT_ONCE", 1)
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    LONG[name]()
    assert shares[-1] == 1
    assert all(0 <= share <= 1 for share in shares)
    assert len(shares) >= (1 if name in ONE_STEP else 2)
