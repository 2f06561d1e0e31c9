import pytest
import yaml

from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT

FILES = sorted(
    path for folder in ("config", "workflow") for path in (ROOT / folder).rglob("*.yaml")
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_says_the_same_to_both_parsers(path):
    assert repr(read_yaml(path)) == repr(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_the_project_s_files_are_read():
    assert ROOT / "config/config.yaml" in FILES


def test_no_object_is_made_and_bad_yaml_is_an_error(tmp_path):
    for text in ("!!python/object/apply:os.getcwd []", "a: [1", "a: b: c"):
        (tmp_path / "x.yaml").write_text(text)
        with pytest.raises(yaml.YAMLError):
            read_yaml(tmp_path / "x.yaml")
