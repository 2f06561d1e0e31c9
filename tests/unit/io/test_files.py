import pytest

from isdp.io.files import read_json, write_atomically, write_json


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "result.csv"
    with write_atomically(path) as temporary:
        temporary.write_text("done")
        assert not path.exists()
    assert path.read_text() == "done"
    with pytest.raises(ZeroDivisionError), write_atomically(path) as temporary:
        temporary.write_text("half" + str(1 / 0))
    assert path.read_text() == "done"
    assert [p.name for p in path.parent.iterdir()] == ["result.csv"]


def test_json(tmp_path):
    write_json(tmp_path / "x.json", {"name": "Doña Ana", "n": [1, 2]})
    assert read_json(tmp_path / "x.json") == {"name": "Doña Ana", "n": [1, 2]}
