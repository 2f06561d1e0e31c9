"""The library stands alone: it knows no workflow, and `import isdp` is quick."""

import ast
import re
import subprocess
import sys
from functools import cache

from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT

SOURCES = sorted((ROOT / "src/isdp").rglob("*.py"))
CONFIG = read_yaml(ROOT / "config/config.yaml")
KEYS = "|".join(
    rf"{key}\.{inner}" for key, part in CONFIG.items() if isinstance(part, dict) for inner in part
)
WORKFLOW = {
    "a folder of results": r"\bresults/",
    "a folder of the workflow": r"\b(config|workflow|notebooks)/",
    "a key of the config": rf"(?<![\w.])({KEYS})\b",
    "an environment variable of ours": r"\b(ISDP|NHGIS)_[A-Z_]+\b",
    "the workflow's program": r"(?i)\bsnake(make|file)\b",
}


@cache
def nodes(source):
    return list(ast.walk(ast.parse(source)))


def texts(source):
    """Every text in a file, docstrings and parts of f-strings among them."""
    for node in nodes(source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def named(source):
    """What of the workflow the texts of a file name."""
    return {
        (what, found[0])
        for text in texts(source)
        for what, pattern in WORKFLOW.items()
        for found in re.finditer(pattern, text)
    }


def reads_the_environment(source):
    return any(
        getattr(node, "attr", getattr(node, "name", "")) in {"environ", "getenv", "environb"}
        for node in nodes(source)
        if isinstance(node, ast.Attribute | ast.alias)
    )


def test_no_text_of_the_library_names_the_workflow():
    assert len(SOURCES) > 50
    found = {path.name: named(path.read_text()) for path in SOURCES}
    assert {name: what for name, what in found.items() if what} == {}


def test_the_library_reads_no_environment_variable():
    assert reads_the_environment("import os\nos.environ['A']")
    assert reads_the_environment("from os import getenv")
    assert [path.name for path in SOURCES if reads_the_environment(path.read_text())] == []


def printed(program):
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}]; {program}",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_library_loads_no_package_of_an_extra():
    loaded = printed(
        "import isdp; print(*{name.split('.')[0] for name in sys.modules})",
    )
    assert {"isdp", "numpy"} <= set(loaded)
    assert {"arviz", "h5netcdf", "matplotlib", "opendp", "xarray"} & set(loaded) == set()


def test_importing_the_library_takes_less_than_a_second_of_processor_time():
    """The fastest of three, as the machine may be busy; the compiled code is not called."""
    program = (
        "import time; before = time.process_time(); import isdp; "
        "print(time.process_time() - before)"
    )
    assert min(float(printed(program)[0]) for _ in range(3)) < 1


def test_every_public_name_is_there_after_an_import_of_the_library():
    names = printed("import isdp; print(*(name for name in isdp.__all__ if vars(isdp)[name]))")
    assert {"Invariants", "exact", "subspace"} <= set(names)
    assert printed("import isdp; print(isdp.exact.draw_noise.__module__)") == [
        "isdp.exact.release_noise"
    ]
