"""Read YAML files quickly."""

from pathlib import Path

import yaml

# the C parser if PyYAML has it, because the Python parser delays every start by a second
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path):
    """Read a YAML file of mappings, lists, strings, numbers, booleans and nulls."""
    return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=LOADER)
