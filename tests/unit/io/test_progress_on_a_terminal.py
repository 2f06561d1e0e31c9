"""A draw in a process of its own: on a pseudo-terminal, piped, and stopped by Ctrl-C."""

import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

from tests.unit.io.test_progress import shown

# draws in a fork of one process, which has loaded the library, with another console
DRAW = """
import os
import sys
from isdp import Invariants
from isdp.exact import release
release(Invariants.partition([0, 0]), "1/4")  # which loads what is compiled
invariants = Invariants.partition([k // 500 for k in range(123_450)])
for order in sys.stdin:
    console, draws = order.split()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(console, os.O_WRONLY | os.O_NOCTTY), 2)
        print(os.getpid(), flush=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
        try:
            release(invariants, "1/4", draws=int(draws))
        except KeyboardInterrupt:
            code = 130
        sys.stderr.flush()
        os._exit(code)  # all that was loaded is not taken down again and again
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def program():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", DRAW], text=True, **pipes)
    yield process
    process.communicate()
    assert process.returncode == 0


def drawing(program, console, draws):
    """Start a draw; give the number of its process, which has opened its console.

    The status with which it ends is what is answered next.
    """
    print(console, draws, file=program.stdin, flush=True)
    return int(program.stdout.readline())


def on_a_terminal(program, draws, interrupt=False):
    """What comes on the screen, and how the process ends; interrupted once something is shown."""
    screen, line = pty.openpty()
    termios.tcsetwinsize(line, (24, 80))
    process = drawing(program, os.ttyname(line), draws)
    os.close(line)
    text, ended = "", False
    while not ended:
        if interrupt and "left" in text:
            os.kill(process, signal.SIGINT)
            interrupt = False
        try:
            text += os.read(screen, 4096).decode()
        except OSError:  # the other end is closed
            ended = True
    os.close(screen)
    return text, int(program.stdout.readline())


@pytest.mark.parametrize("interrupt", [False, True])
def test_a_draw_shows_shares_and_time_and_is_gone_in_the_end(program, interrupt):
    draws = 600 if interrupt else 120
    text, code = on_a_terminal(program, draws, interrupt)
    assert code == (130 if interrupt else 0)
    assert "drawing noise: " in text
    assert "left" in text
    counts = [str(number) for number in (123_450, 123_450 * draws, "123,450", "123k")]
    assert not any(count in text for count in counts)
    assert shown(text) == ""


def test_a_draw_shows_nothing_where_it_is_piped(program, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)) as end:
        drawing(program, pipe, 4)
        os.set_blocking(end.fileno(), True)
        assert end.read() == ""
    assert program.stdout.readline() == "0\n"
