import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from isdp.plots.style import DRAW, FAINT, INK
from reproduction.exactness.figures import plot_county_distances, plot_county_distributions
from tests.artists import inside, labelled


def test_shares_of_each_state_lie_over_its_exact_law():
    pooled = pd.DataFrame(
        [
            {"state": s, "sampler": name, "value": v, "share": (k + j + 1) / (10 + abs(v))}
            for k, s in enumerate(("TX", "IL", "VT", "NE", "IA"))
            for j, name in enumerate(("mcmc", "exact", "law"))
            for v in (-2, 0, 2)
        ]
    )
    agreement = pd.DataFrame(
        [
            {"unit": s, "statistic": what, "distance": d + k / 100, "bound": 0.5}
            for k, s in enumerate(("TX", "IL", "VT", "NE", "IA"))
            for what, d in (("norm", 0.011), ("cells", 0.022))
        ]
    )
    figure = plot_county_distributions(pooled, agreement, "title")
    assert [axis.axison for axis in figure.axes] == [True] * 5 + [False] * 3
    for k, (axis, state) in enumerate(
        zip(figure.axes, dict.fromkeys(pooled["state"]), strict=False)
    ):
        own = dict(list(pooled[pooled["state"] == state].groupby("sampler")))
        law = labelled(axis)["exact distribution"]
        assert law.get_color() == INK
        assert law.get_xydata().tolist() == own["law"][["value", "share"]].to_numpy().tolist()
        for colour, name in ((FAINT, "exact"), (DRAW, "mcmc")):
            (lines,) = [each for each in axis.collections if to_hex(each.get_color()) == colour]
            ends = np.array(lines.get_segments())
            assert ends[..., 0].mean(axis=1).tolist() == pytest.approx([-2, 0, 2])
            assert (ends[..., 1] == own[name]["share"].to_numpy()[:, None]).all()
        assert axis.get_title("left") == (
            f"{state}: distance of the norm {0.011 + k / 100:.3f} (bound 0.500),\n"
            f"of the worst county {0.022 + k / 100:.3f} (0.500)"
        )
    assert inside(figure)


def test_distances_fall_along_a_line_a_state():
    states = [f"S{i}" for i in range(11)]
    curves = pd.concat(
        [
            pd.DataFrame({"state": s, "t": [0, 9, 99], "distance": [1, 1 / (i + 2), 0.01]})
            for i, s in enumerate(states)
        ]
    ).assign(error=0.1)
    axis = plot_county_distances(curves, "title").axes[0]
    lines = labelled(axis)
    for i, state in enumerate(states):
        assert lines[state].get_xdata().tolist() == [1, 10, 100]
        assert lines[state].get_ydata().tolist() == [1, 1 / (i + 2), 0.01]
    assert {*lines["sampling error"].get_ydata()} == {0.1}
    assert lines["sampling error"].get_xdata()[:3].tolist() == [1, 10, 100]
    looks = {(lines[s].get_color(), lines[s].get_linestyle()) for s in states}
    assert len(looks) == len(np.unique(states))
