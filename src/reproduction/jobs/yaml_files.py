"""Reading YAML files."""

from pathlib import Path

import yaml

# the parser in C where PyYAML was built with it: the one in Python took a second of each start
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path):
    """Read a YAML file of plain values: mappings, lists, texts, numbers, truth values and nulls."""
    return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=LOADER)
