"""Files appear together or not at all, whatever ends the run."""

import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
import time

import pytest

from isdp import InputError
from isdp.io import together
from isdp.io.together import clear_leftovers, write_together
from tests import ROOT

NAMES = ("noisy.csv", "a.json", "b.md", "c.svg")
HEAD = f"""
import os, sys
sys.path.insert(0, {str(ROOT / "src")!r})
from isdp.io.together import write_together
folder, names = sys.argv[1], {NAMES!r}
def write(text):
    def into(new):
        for name in names:
            (new / name).write_text(text)
    return into
"""


def write(text, names=NAMES):
    def into(new):
        for name in names:
            (new / name).write_text(text)

    return into


def hidden(folder):
    found = [*folder.parent.glob(".*.unfinished"), *folder.glob(".unfinished")]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in found)
    return found


def seen(folder):
    """Text of each file there is, by name; others' files left out."""
    if not folder.exists():
        return {}
    return {name: (folder / name).read_text() for name in NAMES if (folder / name).exists()}


def assert_whole(files):
    assert files == {} or (set(files) == set(NAMES) and len(set(files.values())) == 1), files


@pytest.fixture(params=["new", "own", "shared"])
def folder(request, tmp_path):
    """A folder that is not there, holds an earlier release, or others' files beside it."""
    path = tmp_path / "deep" / "out"
    if request.param != "new":
        path.mkdir(parents=True)
        for name in NAMES:
            (path / name).write_text("old")
    if request.param == "shared":
        (path / "mine.txt").write_text("mine")
    return path


def test_all_files_appear_at_the_end(folder):
    before = seen(folder)

    def slow(new):
        write("new")(new)
        assert seen(folder) == before
        assert len(hidden(folder)) == 1

    others = set(os.listdir(folder)) - set(NAMES) if folder.exists() else set()
    write_together(folder, NAMES, slow)
    assert seen(folder) == dict.fromkeys(NAMES, "new")
    assert hidden(folder) == []
    assert set(os.listdir(folder)) == set(NAMES) | others


def test_files_that_are_not_written_anew_go(folder):
    write_together(folder, NAMES, write("new", NAMES[:2]))
    assert seen(folder) == dict.fromkeys(NAMES[:2], "new")


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt(), InputError()])
def test_an_error_while_writing_changes_nothing(folder, error):
    before = seen(folder)

    def fail(new):
        write("new")(new)
        raise error

    with pytest.raises(type(error)):
        write_together(folder, NAMES, fail)
    assert seen(folder) == before
    assert hidden(folder) == []


def test_a_rename_that_fails_is_undone_with_all_before_it(folder, monkeypatch):
    before, rename, failed = seen(folder), os.rename, 0
    for last in range(20):
        calls = []

        def failing(source, target, calls=calls, last=last):
            calls.append(source)
            if len(calls) == last + 1:
                raise OSError(5, "Input/output error")
            rename(source, target)

        monkeypatch.setattr(together.os, "rename", failing)
        try:
            write_together(folder, NAMES, write("new"))
        except OSError:
            failed += 1
            assert seen(folder) == before
            assert hidden(folder) == []
        else:
            break
    assert seen(folder) == dict.fromkeys(NAMES, "new")
    assert failed >= 1


def test_a_kill_at_any_rename_leaves_at_most_one_hidden_folder_that_the_next_run_clears(
    folder, caplog
):
    """The process ends at the k-th rename, as at SIGKILL; then the next one cleans up."""
    body = """
    rename, left = os.rename, [int(sys.argv[2])]
    def ending(source, target):
        if not left[0]:
            os._exit(9)
        left[0] -= 1
        rename(source, target)
    os.rename = ending
    write_together(folder, names, write("new"))
    """
    before, alone = seen(folder), not (folder / "mine.txt").exists()
    killed = 0
    for moves in range(20):
        done = subprocess.run(
            [sys.executable, "-c", HEAD + textwrap.dedent(body), str(folder), str(moves)]
        )
        if done.returncode == 0:
            break
        killed += 1
        assert len(hidden(folder)) == 1
        if alone:
            assert seen(folder) in (before, {})
        caplog.clear()
        clear_leftovers(folder)
        assert seen(folder) == before
        assert hidden(folder) == []
        assert "left behind by a run that was killed; it has been removed" in caplog.text
        assert "unfinished" in caplog.text
    assert seen(folder) == dict.fromkeys(NAMES, "new")
    assert killed >= 1


# each writes in a fork of one process, which has loaded what it needs
WRITERS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background is deaf to it
for said in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(said.strip(), os.O_WRONLY | os.O_CREAT), 2)
        write_together(folder, names, write("0"))
        print("writes:", os.getpid(), flush=True)
        for i in range(10**9):
            write_together(folder, names, write(str(i)))
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@pytest.mark.parametrize(
    ("number", "kills"), [(signal.SIGKILL, 50), (signal.SIGTERM, 25), (signal.SIGINT, 25)]
)
def test_kills_at_random_moments(tmp_path, number, kills):
    """Writers that do nothing but write are ended after 0 to 20 ms, each after the other."""
    folder, moments, hit, left = tmp_path / "out", random.Random(number), set(), []
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    writers = subprocess.Popen([sys.executable, "-c", HEAD + WRITERS, folder], text=True, **pipes)
    for turn in range(kills):
        before, said = left, tmp_path / f"said {turn}"
        print(said, file=writers.stdin, flush=True)
        told, _, writer = writers.stdout.readline().partition(" ")
        assert told == "writes:", said.read_text()
        time.sleep(moments.uniform(0, 0.02))
        os.kill(int(writer), number)
        assert int(writers.stdout.readline()) != 0
        error = said.read_text()
        left = hidden(folder)
        hit.add(len(left))
        assert len(left) <= (number == signal.SIGKILL)
        assert_whole(seen(folder))
        assert "OSError" not in error
        # what the last one left is named by this one, before it writes, and removed
        assert error.count("left behind by a run that was killed") == len(before)
        assert all(f"{path}: left behind" in error for path in before)
    assert (1 in hit) == (number == signal.SIGKILL)  # some were hit in the middle
    writers.communicate()
    assert writers.returncode == 0


def test_a_signal_during_the_renames_waits_for_their_end(folder, monkeypatch):
    rename = os.rename

    def interrupted(source, target):
        signal.raise_signal(signal.SIGINT)
        rename(source, target)

    monkeypatch.setattr(together.os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_together(folder, NAMES, write("new"))
    assert seen(folder) == dict.fromkeys(NAMES, "new")
    assert hidden(folder) == []


def test_sigterm_ends_the_writing_once_and_handlers_are_given_back(folder):
    before, files = [signal.getsignal(number) for number in together.SIGNALS], seen(folder)

    def ended(new):
        write("new")(new)
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)  # a second one does not stop the cleaning up

    with pytest.raises(SystemExit) as stopped:
        write_together(folder, NAMES, ended)
    assert stopped.value.code == 128 + signal.SIGTERM
    assert seen(folder) == files
    assert hidden(folder) == []
    assert [signal.getsignal(number) for number in together.SIGNALS] == before


def test_two_runs_do_not_write_into_one_folder(folder):
    def twice(new):
        write("new")(new)
        with pytest.raises(InputError, match="another run is writing there"):
            write_together(folder, NAMES, write("second"))

    write_together(folder, NAMES, twice)
    assert seen(folder) == dict.fromkeys(NAMES, "new")


def test_what_is_not_ours_is_not_removed(tmp_path):
    (tmp_path / ".out.unfinished").write_text("mine")
    with pytest.raises(InputError, match="is needed for unfinished files"):
        write_together(tmp_path / "out", NAMES, write("new"))
    assert (tmp_path / ".out.unfinished").read_text() == "mine"


def test_a_folder_in_the_place_of_a_file_stays(tmp_path):
    (tmp_path / "out" / NAMES[0] / "mine").mkdir(parents=True)
    with pytest.raises(InputError, match="this is a folder"):
        write_together(tmp_path / "out", NAMES, write("new"))
    assert os.listdir(tmp_path / "out") == [NAMES[0]]
    assert hidden(tmp_path / "out") == []


def test_a_folder_keeps_its_mode_and_a_new_one_has_the_usual_one(tmp_path):
    write_together(tmp_path / "out", NAMES, write("new"))
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "out").chmod(0o750)
    write_together(tmp_path / "out", NAMES, write("newer"))
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o750


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    write_together(tmp_path / "out", NAMES, write("new"))
    assert (tmp_path / "out").is_symlink()
    assert seen(tmp_path / "real") == dict.fromkeys(NAMES, "new")
