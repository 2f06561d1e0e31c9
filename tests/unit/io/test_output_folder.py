"""Files appear together or not at all, whatever ends the run."""

import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest

from isdp import InputError
from isdp.io import output_folder as together
from isdp.io.output_folder import OutputFolder, write_together
from tests import ROOT

NAMES = ("noisy.csv", "a.json", "b.md", "c.svg")
HEAD = f"""
import os, sys
sys.path.insert(0, {str(ROOT / "src")!r})
from isdp.io.output_folder import write_together
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


def partial(folder):
    """Folders of runs that have not ended or were killed, which only their owner can read."""
    found = [*folder.parent.glob(f"{folder.name}.partial-*")]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in found)
    return found


def seen(folder):
    """Text of each file there is, by name; others' files left out."""
    if not folder.exists():
        return {}
    return {name: (folder / name).read_text() for name in NAMES if (folder / name).exists()}


@pytest.fixture(params=["new", "empty", "old"])
def folder(request, tmp_path):
    """A folder that does not exist, is empty, or holds an earlier release."""
    path = tmp_path / "deep" / "out"
    if request.param != "new":
        path.mkdir(parents=True)
    if request.param == "old":
        for name in NAMES:
            (path / name).write_text("old")
    return path


def test_all_files_appear_at_the_end(folder):
    before = seen(folder)

    def slow(new):
        write("new")(new)
        assert seen(folder) == before
        assert len(partial(folder)) == 1

    write_together(folder, NAMES, slow)
    assert seen(folder) == dict.fromkeys(NAMES, "new")
    assert os.listdir(folder.parent) == [folder.name]


def test_files_that_are_not_written_again_go(folder):
    write_together(folder, NAMES, write("new", NAMES[:2]))
    assert seen(folder) == dict.fromkeys(NAMES[:2], "new")


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt(), InputError()])
def test_an_error_while_writing_changes_nothing(folder, error):
    before = seen(folder)

    def fail(new):
        write("new")(new)
        raise error

    with pytest.raises(type(error)) as raised:
        write_together(folder, NAMES, fail)
    if isinstance(error, OSError):
        assert raised.value.filename == str(folder)
    assert seen(folder) == before
    assert partial(folder) == []


def test_a_rename_that_fails_is_undone_with_all_before_it(folder, monkeypatch):
    before, rename, failed = seen(folder), os.rename, 0
    for last in range(20):
        calls = []

        def failing(source, target, calls=calls, last=last):
            calls.append(source)
            if len(calls) == last + 1:
                raise OSError(5, "Input/output error")
            rename(source, target)

        monkeypatch.setattr("os.rename", failing)
        try:
            write_together(folder, NAMES, write("new"))
        except OSError:
            failed += 1
            assert seen(folder) == before
            assert partial(folder) == []
        else:
            break
    assert seen(folder) == dict.fromkeys(NAMES, "new")
    assert failed >= 1


def test_a_kill_at_any_rename_leaves_the_old_files_the_new_ones_or_none(folder):
    """The process ends at the k-th rename, as at SIGKILL; a later run is not disturbed."""
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
    before, killed = seen(folder), 0
    for moves in range(20):
        done = subprocess.run(
            [sys.executable, "-c", HEAD + textwrap.dedent(body), str(folder), str(moves)]
        )
        if done.returncode == 0:
            break
        killed += 1
        left = partial(folder)
        assert len(left) == killed
        assert seen(folder) in (before, {})
        if before and not seen(folder):
            assert any(seen(path / "old") == before for path in left)
    assert seen(folder) == dict.fromkeys(NAMES, "new")
    assert len(partial(folder)) == killed >= 1


def test_a_signal_during_the_renames_waits_for_their_end(folder, monkeypatch):
    rename = os.rename

    def interrupted(source, target):
        signal.raise_signal(signal.SIGINT)
        rename(source, target)

    monkeypatch.setattr("os.rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_together(folder, NAMES, write("new"))
    assert seen(folder) == dict.fromkeys(NAMES, "new")
    assert partial(folder) == []


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
    assert partial(folder) == []
    assert [signal.getsignal(number) for number in together.SIGNALS] == before


def test_of_two_runs_into_one_folder_the_last_is_whole(folder):
    def twice(new):
        write("first")(new)
        write_together(folder, NAMES, write("second", NAMES[:2]))

    write_together(folder, NAMES, twice)
    assert seen(folder) == dict.fromkeys(NAMES, "first")
    assert partial(folder) == []


OTHERS = [".unfinished", "mine.txt", ".noisy.csv", "out.partial-x", "new", "old"]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_folder_with_other_files_is_refused_and_stays(tmp_path, name, kind):
    folder = tmp_path / "out"
    mine = folder / name / "mine" if kind == "folder" else folder / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    for force in (False, True):
        with pytest.raises(InputError, match="other files"):
            OutputFolder(folder, NAMES, [], force, "costs")
    with pytest.raises(InputError, match="other files"):
        write_together(folder, NAMES, write("new"))
    assert mine.read_text() == "mine"
    assert os.listdir(folder) == [name]


@pytest.mark.parametrize("name", [".out.unfinished", "out.partial-x", "out.partial"])
def test_folders_next_to_it_stay(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine").write_text("mine")
    for text in ("one", "two"):
        write_together(tmp_path / "out", NAMES, write(text))
    assert (tmp_path / name / "mine").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == sorted([name, "out"])


def test_a_file_that_comes_into_the_folder_meanwhile_stays(tmp_path):
    folder = tmp_path / "out"
    write_together(folder, NAMES, write("old"))

    def slow(new):
        write("new")(new)
        (folder / "mine").write_text("mine")

    with pytest.raises(InputError, match="other files"):
        write_together(folder, NAMES, slow)
    assert seen(folder) == dict.fromkeys(NAMES, "old")
    assert (folder / "mine").read_text() == "mine"


def test_a_folder_in_the_place_of_a_file_stays(tmp_path):
    (tmp_path / "out" / NAMES[0] / "mine").mkdir(parents=True)
    with pytest.raises(InputError, match="this is a folder"):
        write_together(tmp_path / "out", NAMES, write("new"))
    assert os.listdir(tmp_path / "out") == [NAMES[0]]
    assert partial(tmp_path / "out") == []


def test_the_old_files_stay_where_the_folder_cannot_be_put_back(tmp_path, monkeypatch, caplog):
    folder, rename = tmp_path / "out", os.rename
    write_together(folder, NAMES, write("old"))

    def failing(source, target):
        if target == folder:
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr("os.rename", failing)
    with pytest.raises(OSError, match="Input/output error"):
        write_together(folder, NAMES, write("new"))
    (left,) = partial(folder)
    assert seen(left / "old") == dict.fromkeys(NAMES, "old")
    assert f"{left}: " in caplog.text


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
