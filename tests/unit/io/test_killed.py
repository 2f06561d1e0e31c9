"""A command that is ended leaves its files whole."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys

import pytest

from tests import ROOT
from tests.unit.io.test_together import partial

EXAMPLE = ROOT / "docs/example"
RULES = ("--invariants", str(EXAMPLE / "ages.yaml"))
PRIVATIZE = ("privatize", str(EXAMPLE / "ages.csv"), *RULES)
PLAN = ("plan", "--cells", str(EXAMPLE / "ages.csv"), *RULES)
COMPARE = ("compare", "--cells", str(EXAMPLE / "cells.csv"))
COMPARE += ("--invariants", str(EXAMPLE / "states.yaml"))
MEASURED = re.compile('"(seconds|megabytes_of_this_process)": .*')
KILLS = {signal.SIGKILL: 6, signal.SIGTERM: 2, signal.SIGINT: 3}
ENDS = {signal.SIGKILL: {-9}, signal.SIGTERM: {-15, 128 + 15}, signal.SIGINT: {128 + 2}}


def writing(command, out):
    """The same command with two budgets."""
    own = (*command, "--out", str(out), "--force", "--no-picture", "--epsilon")
    return [[*own, "1"], [*own, "2"]]


@pytest.fixture(scope="module")
def forked(tmp_path_factory):
    """Run a command in a fork of one process, which a signal may end; give status and words."""
    folder = tmp_path_factory.mktemp("forked")
    commands = (PLAN, COMPARE, PRIVATIZE)
    warming = [writing(command, folder / command[0])[0] for command in commands]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.io.forked", json.dumps(warming)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )

    def run(arguments, number=0, at=-1):
        said = folder / "said"
        print(json.dumps([arguments, str(said), number, at]), file=process.stdin, flush=True)
        return int(process.stdout.readline()), said.read_text()

    yield run
    process.communicate()


def files(folder):
    """Text of each file by its name, but for the time and memory that a draw took."""
    return {path.name: MEASURED.sub("", path.read_text()) for path in folder.glob("*")}


def calls_of(said):
    return int(said.rpartition("calls: ")[2])


@pytest.mark.parametrize("command", ["plan", "compare", "check", "account"])
def test_a_kill_at_any_call_to_the_file_system(forked, tmp_path, command):
    """Between two calls nothing changes that a kill could leave behind."""
    out = tmp_path / "deep" / "out"
    writes = command in ("plan", "compare")
    if writes:
        variants = writing(PLAN if command == "plan" else COMPARE, out)
    else:
        for folder in (out, tmp_path / "second"):
            assert forked(writing(PRIVATIZE, folder)[0])[0] == 0
        certificate, noisy = out / "certificate.json", out / "noisy.csv"
        check = ["check", noisy, *RULES, "--certificate", certificate, "--totals"]
        account = ["account", certificate, folder / "certificate.json", "--cells", noisy, *RULES]
        words = [*check, out / "totals.csv"] if command == "check" else account
        variants = 2 * [[str(word) for word in words]]
    wanted = []
    for arguments in variants:
        status, said = forked(arguments)
        assert status == 0, said
        wanted.append(files(out))
    assert (wanted[0] != wanted[1]) == writes
    moments, hit = random.Random(command), set()
    for number, kills in KILLS.items():
        for turn in range(kills):
            before, which = files(out), turn % 2
            at = moments.randrange(calls_of(said))
            status, words = forked(variants[which], number, at)
            left = partial(out)
            hit.add((number, len(left)))
            assert status in ENDS[number], words
            assert "Traceback" not in words
            assert len(left) <= (writes and number == signal.SIGKILL)
            assert {*out.parent.iterdir()} <= {out, *left}
            assert files(out) in (before, wanted[which], *([{}] if left else []))
            for path in left:
                shutil.rmtree(path)
            if not files(out):
                assert forked(variants[which])[0] == 0
                assert files(out) == wanted[which]
    assert ((signal.SIGKILL, 1) in hit) == writes
