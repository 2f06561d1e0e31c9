import pytest

from reproduction.running.compiled import cache_folder


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    folder = tmp_path / "isdp"
    folder.mkdir()
    (folder / "kernels.py").write_text("@njit\ndef rise(x):\n    return x + 1\n")
    (folder / "plain.py").write_text("BAR = 2\n")
    return tmp_path


def test_an_edit_of_compiled_code_has_another_folder(sources):
    before = cache_folder(sources)
    assert before.parent == sources / "kept" / "isdp"
    (sources / "isdp" / "kernels.py").write_text("@njit\ndef rise(x):\n    return x + 2\n")
    assert cache_folder(sources) != before


def test_a_renamed_file_of_compiled_code_has_another_folder(sources):
    before = cache_folder(sources)
    (sources / "isdp" / "kernels.py").rename(sources / "isdp" / "loops.py")
    assert cache_folder(sources) != before


def test_an_edit_of_plain_code_keeps_the_folder(sources):
    before = cache_folder(sources)
    (sources / "isdp" / "plain.py").write_text("BAR = 3\n")
    assert cache_folder(sources) == before


def test_without_a_choice_it_lies_among_the_users_caches(sources, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(sources / "home"))
    assert cache_folder(sources).parent == sources / "home" / ".cache" / "isdp"
