import numpy as np

from isdp.plots.style import DRAW
from reproduction.lattices.constraints_figures import plot_constraints
from tests.artists import inside


def test_each_record_stands_inside_just_the_sets_that_hold_it():
    sets = {"A": [1, 3, 5], "B": [2, 3], "C": [3, 5, 6]}
    figure = plot_constraints(sets, 7)
    axis = figure.axes[0]
    circles = [patch for patch in axis.patches if patch.get_fill()]
    assert len(circles) == 3
    lines = [patch for patch in axis.patches if not patch.get_fill()]
    for circle, line in zip(circles, lines, strict=True):
        assert (line.center, line.radius) == (circle.center, circle.radius)
    seen = set()
    for text in axis.texts:
        for record in text.get_text().replace(",", " ").split():
            if record in sets:
                continue
            seen.add(record)
            for circle, members in zip(circles, sets.values(), strict=True):
                apart = np.hypot(*np.subtract(text.get_position(), circle.center))
                assert (apart < circle.radius) == (int(record) in members), record
    assert seen == {str(record) for record in range(1, 8)}
    assert inside(figure)


def test_other_numbers_of_constraints_are_a_grid_of_what_each_counts():
    figure = plot_constraints({"A": [3], "B": [1, 2]}, 3)
    axis = figure.axes[0]
    held = [line for line in axis.get_lines() if line.get_color() == DRAW]
    assert [list(line.get_xdata()) for line in held] == [[3], [1, 2]]
    assert [list(line.get_ydata()) for line in held] == [[0], [1, 1]]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["A", "B"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["1", "2", "3"]
