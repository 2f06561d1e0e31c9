"""Who may import whom: a room imports rooms on lower floors, and itself."""

import ast

import pytest

from tests import ROOT

# from the top floor to the ground; the order stands nowhere else
LIBRARY = """
cli > compare > privatize > plots, topdown, swapping > diagnostics > mcmc > exact, subspace
> postprocess, io > mechanisms > lattice > constraints, accounting > seeds > checks
> compiled > errors
"""
REPRODUCTION = """
review, config > national > comparison
> counties, lattices, congenial, exactness, subspace, topdown, swapping
> data > running
"""
FLOORS = {
    package: [set(floor.replace(",", " ").split()) for floor in text.split(">")]
    for package, text in {"isdp": LIBRARY, "reproduction": REPRODUCTION}.items()
}
DOORS = {"isdp": {"__init__", "__main__"}, "reproduction": {"__init__"}}  # they open all rooms


def room_of(parts):
    """Package and room of a module, by the parts of its name."""
    return parts[0], (parts[1] if len(parts) > 1 else "")


def imported(tree):
    """Package and room of all that a file of either package imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] in FLOORS:
                yield room_of(name.split("."))


def homes():
    """Packages of the names that `isdp` itself hands on."""
    tree = ast.parse((ROOT / "src/isdp/__init__.py").read_text())
    return {
        alias.name: node.module.split(".")[1]
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module.startswith("isdp.")
        for alias in node.names
    }


HOMES = homes()


def faults(package, room, text):
    """List what a file in a room imports and may not."""
    level = {name: i for i, floor in enumerate(FLOORS[package]) for name in floor}
    found = []
    for other, there in imported(ast.parse(text)):
        target = HOMES.get(there, there) if other == "isdp" else there
        if other != package:
            allowed = package == "reproduction"
        else:
            below = level.get(target, -1) > level[room]
            allowed = target == room or below or target == "__version__"
        if not allowed:
            found.append(f"{package}.{room} -> {other}.{target}")
    return found


def files(package):
    """Room and path of each file that stands in one."""
    source = ROOT / "src" / package
    for path in sorted(source.rglob("*.py")):
        room = path.relative_to(source).with_suffix("").parts[0]
        if room not in DOORS[package]:
            yield room, path


@pytest.mark.parametrize("package", FLOORS)
def test_every_room_stands_on_one_floor(package):
    listed = [room for floor in FLOORS[package] for room in floor]
    assert len(listed) == len(set(listed))
    there = {room for room, _ in files(package)}
    assert len(there) >= 5
    assert there <= set(listed)


@pytest.mark.parametrize(
    ("package", "room", "text", "wrong"),
    [
        ("isdp", "lattice", "from isdp.exact import choose", True),
        ("isdp", "lattice", "def f():\n    from isdp.exact.laws import total_law", True),
        ("isdp", "lattice", "import isdp.exact.laws", True),
        ("isdp", "lattice", "from isdp import exact", True),
        ("isdp", "lattice", "from isdp import GeneralizedLaplace", True),
        ("isdp", "exact", "from isdp.subspace import x", True),
        ("isdp", "errors", "from reproduction.data import fetch", True),
        ("isdp", "exact", "from isdp import GeneralizedLaplace, Invariants", False),
        ("isdp", "exact", "from isdp.exact.laws import total_law\nimport numpy", False),
        ("reproduction", "counties", "from reproduction.lattices import entry", True),
        ("reproduction", "running", "from reproduction.data import fetch", True),
        ("reproduction", "comparison", "from reproduction.counties import experiment", False),
        ("reproduction", "counties", "from isdp.exact import choose", False),
    ],
)
def test_an_import_upward_or_across_is_seen(package, room, text, wrong):
    assert bool(faults(package, room, text)) == wrong


@pytest.mark.parametrize("package", FLOORS)
def test_no_room_imports_one_above_or_beside_it(package):
    found = {
        f"{path.relative_to(ROOT / 'src')}: {fault}"
        for room, path in files(package)
        for fault in faults(package, room, path.read_text())
    }
    assert sorted(found) == []
