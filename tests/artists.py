"""What the artists of a figure hold, to be set against its table."""

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch


def labelled(axis):
    """Lines of an axis by their words in the legend."""
    return {line.get_label(): line for line in axis.get_lines()}


def strokes_of(axis, colour):
    """Arrays of shape (stroke, end, x or y) of the broken lines of a colour, one a line."""
    found = []
    for line in axis.get_lines():
        points = np.column_stack(line.get_data())
        broken = len(points) % 3 == 0 and np.isnan(points[2::3, 0]).all()
        if to_hex(line.get_color()) == colour and broken and len(points):
            found.append(points.reshape(-1, 3, 2)[:, :2])
    return found


def boxes_of(axis):
    """For each colour of boxes: left, right, low and high of each, from its path."""
    found = {}
    for patch in axis.patches:
        if isinstance(patch, PathPatch):
            corners = patch.get_path().vertices.reshape(-1, 5, 2)
            sides = corners[:, :4].min(axis=1), corners[:, :4].max(axis=1)
            (left, low), (right, high) = (side.T for side in sides)
            found[to_hex(patch.get_facecolor())] = np.column_stack([left, right, low, high])
    return found


def legend_of(axis):
    """Words of an axis' legend."""
    return [text.get_text() for text in axis.get_legend().get_texts()]


def inside(figure):
    """Whether all that a figure shows lies within its edges, to a fiftieth of an inch."""
    figure.draw_without_rendering()
    area, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    room = 0.02
    return bool(
        area.x0 > -room and area.y0 > -room and area.x1 < width + room and area.y1 < height + room
    )
