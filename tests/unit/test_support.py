import fcntl
from pathlib import Path

from support.library import library_of
from support.locks import clear_stale_locks

ROOT = Path(__file__).parents[2]


def names(files):
    return {Path(file).stem for file in files}


def test_a_script_depends_on_all_that_it_imports_however_far_away(tmp_path):
    source = tmp_path / "isdp"
    (source / "room").mkdir(parents=True)
    for name, text in {
        "__init__": "from isdp.errors import InputError",
        "errors": "",
        "a": "import numpy\nfrom isdp.b import f",
        "b": "def f():\n    from isdp import c",
        "c": "from isdp.room import h",
        "room/__init__": "from isdp.room.door import h",
        "room/door": "from isdp import far",
        "far": "",
        "unused": "",
    }.items():
        (source / f"{name}.py").write_text(text)
    script = tmp_path / "script.py"
    script.write_text("from isdp.a import g\nfrom isdp import InputError")
    assert names(library_of(script, source)) == {"__init__", "errors", "a", "b", "c", "door", "far"}


def test_the_samplers_script_depends_on_the_sampler_and_not_on_plots():
    script = ROOT / "workflow/scripts/sample_counties.py"
    found = names(library_of(script, ROOT / "src/isdp"))
    assert {"metropolis", "lattice", "smith", "mechanisms", "seeds"} <= found
    assert "plotting" not in found


def test_locks_are_cleared_only_where_no_run_is_alive(tmp_path):
    folder = tmp_path / ".snakemake"
    mark = folder / "locks" / "0.output.lock"
    mark.parent.mkdir(parents=True)
    mark.write_text("x")
    with open(folder / "isdp-run.lock", "w") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        assert clear_stale_locks(folder) is None
        assert mark.exists()
    handle = clear_stale_locks(folder)
    assert not mark.exists()
    assert clear_stale_locks(folder) is None
    handle.close()
