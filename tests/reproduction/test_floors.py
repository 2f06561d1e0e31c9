"""Who may import whom in the reproduction: review, then the wings, then data, then running."""

import ast

import pytest

from tests import ROOT

SOURCE = ROOT / "src/reproduction"
SHARED = {"running": 0, "data": 1, "review": 3}
WING = 2


def floor(room):
    return SHARED.get(room, WING)


def rooms_imported(path):
    """Rooms of the reproduction that a file names in an import."""
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.split(".")[1] for name in modules if name.startswith("reproduction."))


ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_from_lower_floors_and_from_itself_alone(room):
    for path in (SOURCE / room).rglob("*.py"):
        for other in rooms_imported(path):
            below = floor(other) < floor(room) + (room == "comparison")
            assert other == room or below, f"{path.name} imports {other}"


def test_the_library_knows_nothing_of_the_reproduction():
    assert {"counties", "running", "review"} <= set(ROOMS)
    for path in (ROOT / "src/isdp").rglob("*.py"):
        assert list(rooms_imported(path)) == [], path
