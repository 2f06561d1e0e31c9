"""Read YAML files with the C parser of PyYAML."""

from pathlib import Path

import yaml

# if PyYAML lacks the C parser, the Python parser is used, which delays every start by a second
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path):
    """Read a YAML file of mappings, lists, strings, numbers, booleans and nulls."""
    return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=LOADER)
