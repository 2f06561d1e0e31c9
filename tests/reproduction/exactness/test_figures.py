import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from isdp.plots.style import DRAW, FAINT, INK
from reproduction.exactness.figures import plot_county_distances, plot_county_distributions
from tests.artists import inside, labelled


@pytest.mark.parametrize(("states", "shown"), [(("TX", "IL", "VT"), "IL"), (("VT", "TX"), "VT")])
def test_shares_of_one_state_lie_over_its_exact_law(states, shown):
    pooled = pd.DataFrame(
        [
            {"state": s, "sampler": name, "value": v, "share": (k + j + 1) / (10 + abs(v))}
            for k, s in enumerate(states)
            for j, name in enumerate(("mcmc", "exact", "law"))
            for v in (-2, 0, 2)
        ]
    )
    agreement = pd.DataFrame(
        [
            {"unit": s, "statistic": what, "distance": d + (s == "TX") / 100, "bound": 0.5 + d}
            for s in states
            for what, d in (("norm", 0.011), ("cells", 0.022))
        ]
    )
    figure = plot_county_distributions(pooled, agreement, "title")
    (axis,) = figure.axes
    own = dict(list(pooled[pooled["state"] == shown].groupby("sampler")))
    law = labelled(axis)["exact distribution"]
    assert law.get_color() == INK
    assert law.get_xydata().tolist() == own["law"][["value", "share"]].to_numpy().tolist()
    for colour, name in ((FAINT, "exact"), (DRAW, "mcmc")):
        (lines,) = [each for each in axis.collections if to_hex(each.get_color()) == colour]
        ends = np.array(lines.get_segments())
        assert ends[..., 0].mean(axis=1).tolist() == pytest.approx([-2, 0, 2])
        assert (ends[..., 1] == own[name]["share"].to_numpy()[:, None]).all()
    assert figure.get_suptitle().startswith(f"{shown}: title\n")
    assert figure.get_suptitle().endswith("TX, 0.032 (bound 0.522)")
    assert inside(figure)


def test_distances_fall_along_a_line_a_state_and_the_slowest_is_named():
    states = [f"S{i}" for i in range(4)]
    curves = pd.concat(
        [
            pd.DataFrame({"state": s, "t": [0, 9, 99], "distance": [1, 1 / (i + 2), d]})
            for i, (s, d) in enumerate(zip(states, (0.01, 0.02, 0.3, 0.04), strict=True))
        ]
    ).assign(error=0.1)
    axis = plot_county_distances(curves, "title").axes[0]
    slowest = labelled(axis)["S2, the slowest state"]
    assert slowest.get_color() == DRAW
    assert slowest.get_xdata().tolist() == [1, 10, 100]
    assert slowest.get_ydata().tolist() == [1, 1 / 4, 0.3]
    grey = [
        line for line in axis.get_lines() if line.get_color() == FAINT and len(line.get_xdata())
    ]
    assert [line.get_ydata()[1] for line in grey] == [1 / 2, 1 / 3, 1 / 5]
    (error,) = [v for k, v in labelled(axis).items() if k.startswith("sampling error")]
    assert error.get_xydata().tolist() == [[1, 0.1], [10, 0.1], [100, 0.1]]
