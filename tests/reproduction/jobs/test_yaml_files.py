import pytest
import yaml

from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT

FILES = sorted(
    path for folder in ("config", "workflow") for path in (ROOT / folder).rglob("*.yaml")
)


def same(one, other):
    """Equal to the type: 1, 1.0 and True are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_what_is_told_apart():
    assert not same({"a": [1]}, {"a": [1.0]})
    assert not same([1], [True])
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_says_the_same_to_both_parsers(path):
    assert same(read_yaml(path), yaml.load(path.read_text(encoding="utf-8"), yaml.SafeLoader))


def test_the_project_s_files_are_read():
    assert ROOT / "config/config.yaml" in FILES


def test_no_object_is_made_and_bad_yaml_is_an_error(tmp_path):
    for text in ("!!python/object/apply:os.getcwd []", "a: [1", "a: b: c"):
        (tmp_path / "x.yaml").write_text(text)
        with pytest.raises(yaml.YAMLError):
            read_yaml(tmp_path / "x.yaml")
