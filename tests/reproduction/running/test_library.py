from pathlib import Path

from reproduction.running.library import library_of
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


def test_the_samplers_script_depends_on_the_sampler_and_not_on_plots():
    script = ROOT / "workflow/scripts/counties/sample_counties.py"
    found = names(library_of(script, ROOT / "src"), ROOT / "src")
    sampling = {"mcmc/metropolis", "mcmc/kernels", "lattice/kernel", "lattice/smith", "seeds"}
    assert {f"isdp/{module}" for module in sampling} <= found
    drawing = [module for module in found if "plots" in module or "figures" in module]
    assert drawing == []
    assert (ROOT / "src/isdp/plots").is_dir()
