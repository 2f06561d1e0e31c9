"""What the artists of a figure hold, to be set against its table."""

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch


def labelled(axis):
    """Lines of an axis by their words in the legend."""
    return {line.get_label(): line for line in axis.get_lines()}


def marks_of(axis, colour):
    """Arrays of shape (mark, x or y) of the lines of a colour that are markers alone."""
    lines = axis.get_lines()
    return [
        np.column_stack(line.get_data()).astype(float)
        for line in lines
        if to_hex(line.get_color()) == colour and line.get_linestyle() == "None"
    ]


def boxes_of(axis):
    """For each colour of boxes: left, right, low and high of each, from its patch."""
    found = {}
    for patch in axis.patches:
        if isinstance(patch, PathPatch):
            (left, low), (right, high) = (
                getattr(patch.get_path().vertices, side)(axis=0) for side in ("min", "max")
            )
            found.setdefault(to_hex(patch.get_facecolor()), []).append([left, right, low, high])
    return {colour: np.array(sides) for colour, sides in found.items()}


def whiskers_of(axis):
    """Low and high end of the whiskers of each box, in their order along the x axis."""
    ends = {}
    for line in axis.get_lines():
        x, y = np.array(line.get_data(), dtype=float)
        if len(x) == 2 and x[0] == x[1] and line.get_linestyle() == "-":
            ends.setdefault(x[0], []).extend(y)
    return np.array([(min(ends[x]), max(ends[x])) for x in sorted(ends)])


def medians_of(axis):
    """Left, right and height of the line in the middle of each box, along the x axis."""
    found = []
    for line in axis.get_lines():
        x, y = np.array(line.get_data(), dtype=float)
        level = len(x) == 2 and y[0] == y[1] and x[0] < x[1]
        if level and line.get_transform() == axis.transData:
            found.append((*x, y[0]))
    return np.array(sorted(found))


def legend_of(part):
    """Words of the legend of an axis, or of those of a figure."""
    legends = part.legends if isinstance(part, Figure) else [part.get_legend()]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def inside(figure):
    """Whether all that a figure shows lies within its edges, to a fiftieth of an inch."""
    figure.draw_without_rendering()
    area, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    room = 0.02
    return bool(
        area.x0 > -room and area.y0 > -room and area.x1 < width + room and area.y1 < height + room
    )
