import ast
from pathlib import Path

import pytest

from reproduction.running.library import _statements, digest_of, library_of
from tests import ROOT


def names(files, source):
    return {str(Path(file).relative_to(source).with_suffix("")) for file in files}


def needed(tmp_path, text, sources):
    for name, content in sources.items():
        path = tmp_path / f"src/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    script = tmp_path / f"script_{len(list(tmp_path.iterdir()))}.py"  # each file is parsed once
    script.write_text(text)
    return names(library_of(script, tmp_path / "src"), tmp_path / "src")


def test_a_script_depends_on_all_that_it_imports_however_far_away(tmp_path):
    sources = {
        "isdp/__init__": "",
        "isdp/a": "import numpy\nfrom isdp.b import f",
        "isdp/b": "def f():\n    from isdp import c",
        "isdp/c": "from papers.far import h",
        "isdp/unused": "",
        "papers/__init__": "",
        "papers/far": "from papers import near",
        "papers/near": "",
    }
    found = needed(tmp_path, "from isdp.a import g", sources)
    assert found == {*sources} - {"isdp/unused"}


def test_a_name_that_a_package_hands_on_counts_as_the_module_that_defines_it(tmp_path):
    sources = {
        "isdp/__init__": '_HOMES = {"Late": "isdp.room"}',
        "isdp/room/__init__": "from isdp.room.door import handle\nfrom isdp.room.wall import Late",
        "isdp/room/door": "",
        "isdp/room/wall": "",
        "isdp/room/window": "",
    }
    inits = {"isdp/__init__", "isdp/room/__init__"}
    assert needed(tmp_path, "from isdp.room import handle", sources) == inits | {"isdp/room/door"}
    assert needed(tmp_path, "from isdp import Late", sources) == inits | {"isdp/room/wall"}
    assert needed(tmp_path, "from isdp.room import window", sources) == inits | {"isdp/room/window"}


def test_a_package_taken_whole_counts_with_all_that_it_hands_on(tmp_path):
    sources = {
        "isdp/__init__": "",
        "isdp/room/__init__": "from isdp.room.door import handle",
        "isdp/room/door": "from isdp.room.inner import x",
        "isdp/room/inner": "",
        "isdp/room/window": "",
    }
    for text in ("from isdp import room", "import isdp.room"):
        assert needed(tmp_path, text, sources) == {*sources} - {"isdp/room/window"}


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    from isdp import b  # late",
        "from isdp import (  # two\n    a,\n    b,\n)",
        '"""Prose.\n\nimport what you need,\nfrom a friend.\n"""\nfrom isdp import b',
        "import isdp.b as c",
        "try:\n    pass\nfinally:\n    import isdp.b",
    ],
)
def test_an_import_is_found_wherever_it_stands(tmp_path, text):
    sources = {"isdp/__init__": "", "isdp/a": "", "isdp/b": ""}
    assert "isdp/b" in needed(tmp_path, text, sources)


def statements_of(node):
    """All statements below a node; an import is none of the expressions among them."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements_of(child)


def test_no_import_of_the_packages_is_missed():
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = statements_of(ast.parse(path.read_text()))
        imports = {ast.dump(node) for node in tree if isinstance(node, ast.Import | ast.ImportFrom)}
        assert imports == {ast.dump(node) for node in _statements(path)}, path


def test_a_digest_tells_the_text_and_the_place_of_files_and_not_where_their_folder_lies(tmp_path):
    texts = {"one/a.py": "x = 1\n", "one/b.py": "y = 1\n"}

    def digest(folder, texts):
        files = [tmp_path / folder / "src" / name for name in texts]
        for file, text in zip(files, texts.values(), strict=True):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return digest_of([str(file) for file in files], tmp_path / folder / "src")

    first = digest("here", texts)
    assert digest("there", dict(reversed(texts.items()))) == first
    others = [
        texts | {"one/b.py": "y = 2\n"},
        {"one/a.py": texts["one/a.py"]},
        {"one/a.py": texts["one/b.py"], "one/b.py": texts["one/a.py"]},
        {"two/a.py": texts["one/a.py"], "one/b.py": texts["one/b.py"]},
    ]
    assert len({first, *(digest(f"other {i}", other) for i, other in enumerate(others))}) == 5


def test_the_samplers_script_depends_on_the_sampler_and_not_on_plots():
    script = ROOT / "workflow/scripts/counties/sample_counties.py"
    found = names(library_of(script, ROOT / "src"), ROOT / "src")
    sampling = {"mcmc/metropolis", "mcmc/kernels", "lattice/kernel", "lattice/smith", "seeds"}
    assert {f"isdp/{module}" for module in sampling} <= found
    drawing = [module for module in found if "plots" in module or "figures" in module]
    assert drawing == []
    assert (ROOT / "src/isdp/plots").is_dir()
