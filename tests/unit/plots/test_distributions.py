import numpy as np
import pandas as pd
import pytest

from isdp.plots.distributions import plot_distribution_distances
from tests.artists import inside, legend_of

SAMPLERS = {"mcmc": "Markov chains", "messages": "messages"}
AGREEMENT = pd.DataFrame(
    [
        {"law": law, "sampler": s, "statistic": what, "distance": d, "bound": 0.1 + d / 10}
        for law, s, what, d in (
            ("l1", "mcmc", "norm", 0.011),
            ("l1", "mcmc", "cells", 0.022),
            ("l1", "messages", "norm", 0.033),
            ("l1", "messages", "cells", 0.044),
            ("l2", "mcmc", "norm", 0.055),
            ("l2", "mcmc", "cells", 0.066),
        )
    ]
)
REFUSED = pd.DataFrame([{"law": "none", "sampler": "mcmc", "statistic": ""}])
LAWS = {"l1": "first law", "l2": "second law"}


@pytest.mark.parametrize(("panel", "statistic"), [(0, "norm"), (1, "cells")])
def test_each_distance_lies_in_its_row_over_the_bar_of_its_bound(panel, statistic):
    figure = plot_distribution_distances(AGREEMENT, "title", LAWS, SAMPLERS)
    axis = figure.axes[panel]
    own = AGREEMENT[AGREEMENT["statistic"] == statistic]
    (points,) = axis.get_lines()
    assert points.get_xydata().tolist() == np.transpose([own["distance"], range(3)]).tolist()
    bars = axis.containers[0].patches
    assert [bar.get_width() for bar in bars] == own["bound"].tolist()
    assert [bar.get_y() + bar.get_height() / 2 for bar in bars] == pytest.approx([0, 1, 2])
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [
        "Markov chains\nfirst law",
        "messages\nfirst law",
        "Markov chains\nsecond law",
    ]
    assert legend_of(figure)[0] == "measured distance"
    assert figure.get_suptitle() == "title"
    assert inside(figure)


def test_a_law_without_exact_draws_is_named():
    laws = {"none": "too large", **LAWS}
    figure = plot_distribution_distances(pd.concat([REFUSED, AGREEMENT]), "title", laws, SAMPLERS)
    assert figure.get_suptitle() == "title\nno exact sampler is practical for too large"
    assert len(figure.axes[0].containers[0].patches) == 3
    alone = plot_distribution_distances(REFUSED, "title", {"none": "too large"}, SAMPLERS)
    assert "practical" in alone.axes[0].texts[0].get_text()
