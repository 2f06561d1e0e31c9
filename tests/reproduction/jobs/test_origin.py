"""Which code and config made a page: in a repository, beside one, below one, and without git."""

import hashlib
import shutil
import subprocess

import pytest

import isdp
from reproduction.jobs.origin import describe_origin

UNKNOWN = "commit not known (not a git checkout)"


def git(folder, *arguments):
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("seed: 1\n")
    return path


@pytest.fixture
def checkout(tmp_path):
    if not shutil.which("git"):
        pytest.skip("there is no git on this machine")
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / ".gitignore").write_text("results/\n")
    (folder / "code.py").write_text("x = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def test_a_clean_checkout_has_its_version_commit_and_the_configs_hash(checkout, config):
    (checkout / "results").mkdir()
    (checkout / "results/table.csv").touch()
    commit = git(checkout, "rev-parse", "HEAD")[:12]
    digest = hashlib.sha256(b"seed: 1\n").hexdigest()[:12]
    assert describe_origin(checkout, config) == (
        f"Made by version {isdp.__version__}, commit {commit} from a clean checkout; "
        f"SHA-256 of config.yaml: {digest}."
    )


def test_what_is_edited_or_new_is_counted(checkout, config):
    (checkout / "code.py").write_text("x = 2\n")
    assert "with changes that are not committed (1 file);" in describe_origin(checkout, config)
    (checkout / "new.py").touch()
    assert "with changes that are not committed (2 files);" in describe_origin(checkout, config)


def test_the_commit_of_a_hooks_or_an_enclosing_repository_is_never_named(
    checkout, config, monkeypatch
):
    unpacked = checkout / "unpacked"
    unpacked.mkdir()
    assert UNKNOWN in describe_origin(unpacked, config)
    commit = git(checkout, "rev-parse", "HEAD")[:12]
    monkeypatch.setenv("GIT_DIR", str(unpacked))
    assert commit in describe_origin(checkout, config)


@pytest.mark.parametrize("there", [True, False], ids=["no repository", "no git"])
def test_without_a_repository_or_git_the_commit_is_not_known(tmp_path, config, monkeypatch, there):
    if not there:
        monkeypatch.setenv("PATH", str(tmp_path))
    said = describe_origin(tmp_path, config)
    assert said.startswith(f"Made by version {isdp.__version__}, {UNKNOWN}; SHA-256")
