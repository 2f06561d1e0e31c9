"""A draw in a process of its own: on a pseudo-terminal, piped, and stopped by Ctrl-C."""

import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

from tests.unit.io.test_progress import shown

DRAW = """
import sys
import isdp.io.progress as progress
from isdp import Invariants
from isdp.exact import release
progress.SHOWN_AFTER = 0.02
if "plain" in sys.argv:
    sys.modules["tqdm"] = None
try:
    release(Invariants.partition([k // 500 for k in range(123_450)]), "1/4", draws=DRAWS)
except KeyboardInterrupt:
    sys.exit(130)
"""


def drawing(stderr, draws, way):
    command = [sys.executable, "-c", DRAW.replace("DRAWS", str(draws)), way]
    return subprocess.Popen(command, stderr=stderr, stdout=subprocess.DEVNULL)


def on_a_terminal(way, draws, interrupt=False):
    """What comes on the screen, and how the process ends; interrupted once something is shown."""
    screen, line = pty.openpty()
    termios.tcsetwinsize(line, (24, 80))
    process = drawing(line, draws, way)
    os.close(line)
    text = ""
    while True:
        try:
            text += os.read(screen, 4096).decode()
        except OSError:  # the other end is closed
            break
        if interrupt and "left" in text:
            process.send_signal(signal.SIGINT)
            interrupt = False
    os.close(screen)
    return text, process.wait()


@pytest.mark.parametrize("way", ["tqdm", "plain"])
@pytest.mark.parametrize("interrupt", [False, True])
def test_a_draw_shows_shares_and_time_and_is_gone_in_the_end(way, interrupt):
    draws = 60 if interrupt else 4
    text, code = on_a_terminal(way, draws, interrupt)
    assert code == (130 if interrupt else 0)
    assert "drawing noise: " in text
    assert "left" in text
    counts = [str(number) for number in (123_450, 123_450 * draws, "123,450", "123k")]
    assert not any(count in text for count in counts)
    assert shown(text) == ""


def test_a_draw_shows_nothing_where_it_is_piped():
    process = drawing(subprocess.PIPE, 1, "plain")
    assert process.communicate()[1] == b""
    assert process.returncode == 0
