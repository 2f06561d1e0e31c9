"""The library reads no environment variable, and `import isdp` is quick."""

import ast
import subprocess
import sys
from functools import cache

from tests import ROOT

SOURCES = sorted((ROOT / "src/isdp").rglob("*.py"))


@cache
def nodes(source):
    return list(ast.walk(ast.parse(source)))


def reads_the_environment(source):
    return any(
        getattr(node, "attr", getattr(node, "name", "")) in {"environ", "getenv", "environb"}
        for node in nodes(source)
        if isinstance(node, ast.Attribute | ast.alias)
    )


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


def test_importing_the_library_loads_no_large_part_of_scipy():
    loaded = printed("import isdp, sys; print(*sys.modules)")
    assert {"isdp", "scipy"} <= set(loaded)
    assert {f"scipy.{part}" for part in ("optimize", "signal", "stats")} & set(loaded) == set()
