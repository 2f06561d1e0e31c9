import numpy as np
import pandas as pd
import pytest

from isdp import InputError, Invariants
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.invariants_file import HeldTotals, read_invariants
from isdp.commands.shared.table import read_table
from isdp.lattice.elimination import row_reduce, solve_determined
from tests.unit.commands.conftest import NESTED, people


def held(folder, text):
    table = read_table(folder / "table.csv")
    (folder / "rules.yaml").write_text(text)
    return read_invariants(folder / "rules.yaml", table)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (NESTED, 6),
        ("totals: [county]\nsubsets: {old: {county: county 1, age: [20-29, 30-39]}}", 4),
        ("total: true\nsubsets: {a: {county: county 1}, b: {county: county 1, sex: f}}", 3),
        ("subsets: {a: {county: [county 0, county 1]}, b: ['county 2, f, 0-9']}", 2),
        ("totals: [county]\nsubsets: {a: {county: [county 0, county 1]}}", 3),
        ("totals: [county, sex]", None),
        ("totals: [sex]\nsubsets: {a: {county: county 1}}", None),
    ],
)
def test_nested_totals_become_disjoint_blocks(tmp_path, text, blocks):
    people(tmp_path / "table.csv")
    totals = held(tmp_path, text)
    free = find_degrees_of_freedom(totals)
    every = [one.labels == i for one in totals for i in range(one.totals)]
    spanned = row_reduce(np.array(every, dtype=int)).rows.tolist()
    assert row_reduce(free.invariants.matrix).rows.tolist() == spanned
    assert (free.blocks is None) == (blocks is None)
    if blocks:
        assert free.blocks.max() + 1 == blocks
    cells, others, weights, _ = solve_determined(free.invariants.matrix)
    assert free.degrees == len(others)
    assert free.determined.tolist() == sorted(cells[~weights.astype(bool).any(axis=1)])


def test_totals_that_others_imply_are_not_drawn_twice(tmp_path):
    people(tmp_path / "table.csv")
    free = find_degrees_of_freedom(held(tmp_path, "total: true\ntotals: [county, sex]"))
    assert free.invariants.constraints == 5


def brute_steps(matrix, most=4):
    """Greatest common divisors of the cells of all small vectors that a matrix maps to zero."""
    cells = np.asarray(matrix).shape[1]
    grid = np.stack(np.meshgrid(*[np.arange(-most, most + 1)] * cells), -1).reshape(-1, cells)
    kernel = grid[~(grid @ np.asarray(matrix).T).any(axis=1)]
    return np.gcd.reduce(kernel, axis=0).tolist()


@pytest.mark.parametrize(
    "sets",
    [
        [[0, 1], [1, 2], [2, 0, 3]],  # the noise of cell 3 is even
        [[0, 1], [1, 2], [2, 0], [3, 4]],  # three cells are settled together
        [[0, 1, 2], [2, 3], [0, 1, 3, 4]],  # cells 0 and 1 are of a kind
        [[0, 1], [1, 2], [2, 3], [3, 4]],
        [[0, 1], [1, 2], [0, 2, 3, 4]],  # a sum of two is even, neither is
        [[0], [1, 2, 3]],
    ],
)
def test_steps_and_degrees_are_those_of_the_lattice(sets):
    held = [
        HeldTotals("set", np.array([0 if i in cells else -1 for i in range(5)])) for cells in sets
    ]
    free = find_degrees_of_freedom(held)
    matrix = Invariants.subsets(sets, 5).matrix
    assert free.steps.tolist() == brute_steps(matrix)
    assert free.degrees == 5 - np.linalg.matrix_rank(matrix)
    assert free.determined.tolist() == [i for i, step in enumerate(free.steps) if step == 0]
    assert free.revealed_residues.tolist() == [i for i, step in enumerate(free.steps) if step > 1]


@pytest.mark.parametrize(
    ("sets", "exchange", "loose"),
    [
        ([[0, 1, 2, 3, 4]], True, False),
        ([[0, 1, 2, 3]], True, True),
        ([[0], [1], [2]], True, True),
        ([[0], [1], [2], [3]], False, True),
        ([[0, 1], [0, 2], [1, 3], [2, 3], [4]], False, False),
        ([[0, 1], [1, 2], [2, 0, 3, 4]], True, False),
        ([[0, 1], [1, 2], [0, 2, 3]], False, True),
    ],
)
def test_who_can_change_alone_is_seen_in_the_nearest_tables(sets, exchange, loose):
    held = [
        HeldTotals("set", np.array([0 if i in cells else -1 for i in range(5)])) for cells in sets
    ]
    free = find_degrees_of_freedom(held)
    matrix = Invariants.subsets(sets, 5).matrix
    one = np.eye(5, dtype=int)
    moves = [one[i] - one[j] for i in range(5) for j in range(5) if i != j]
    assert free.single_move == exchange == any(not (matrix @ move).any() for move in moves)
    assert free.single_change == loose == any(not (matrix @ more).any() for more in one)


def test_totals_that_overlap_in_many_ways_are_refused():
    axes = np.unravel_index(np.arange(71 * 71 * 2), (71, 71, 2))
    with pytest.raises(InputError, match="10082"):
        find_degrees_of_freedom([HeldTotals(str(i), axis) for i, axis in enumerate(axes)])


def new_york(cells):
    """Cities of which one is five counties, and counties that are several cities each."""
    county = np.arange(cells) % 20
    city = 100 + np.arange(cells) % 60
    city[county < 5] = 99
    return county, city


def test_families_nested_in_both_directions_are_blocks_of_any_size(run):
    cells = 3000  # beyond what totals that overlap can be drawn under
    county, city = new_york(cells)
    names = np.arange(cells)
    table = pd.DataFrame({"cell": names, "county": county, "city": city, "count": names % 50})
    table.to_csv(run.folder / "table.csv", index=False)
    run.rules("totals: [county, city]")
    assert run("--name", "cell") == 0
    noisy = run.noisy
    for column in ("county", "city"):
        sums = [each.groupby(column)["count"].sum() for each in (table, noisy)]
        assert sums[0].equals(sums[1])
    lattice = run.certificate["lattice"]
    blocks = 5 + 45  # the counties of the one city, and the cities of the other counties
    assert (lattice["degrees_of_freedom"], lattice["cells_without_freedom"]) == (cells - blocks, 0)
    assert "a distance of 2" in run.certificate["mechanism"]["distances"]
    assert "that overlap" not in (run.out / "certificate.md").read_text()


def test_families_nested_in_both_directions_that_settle_all_are_refused_before_the_draw(run):
    table = pd.DataFrame({"cell": range(3000), "count": 1})
    table["half"] = table["cell"] // 1500
    table.to_csv(run.folder / "table.csv", index=False)
    run.rules("totals: [half, cell]")
    assert "these totals" in run.refused("--name", "cell")
