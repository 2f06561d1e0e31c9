"""Draw the picture of the README: `make picture` writes docs/counties_IL.png.

It needs the published 2010 counts in data/ and no results of a run.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from isdp import GeneralizedLaplace, Invariants, draw_noise
from isdp.plots.style import DRAW, FAINT, styled
from reproduction.data.published import read_published

BASE = Path(__file__).parents[1]
EPSILON = "0.192"  # per unit of l1 distance, as in the study of the counties
DRAWS = 4000
BAND, MIDDLE = "#cfe3f5", "#8fbbe0"


@styled
def draw(names: list[str], populations: np.ndarray) -> Figure:
    """Draw the noise of each county, and the error of the state's total with and without ISDP."""
    rng = np.random.default_rng(20221201)
    cells = len(names)
    mechanism = GeneralizedLaplace(epsilon=EPSILON, norm="l1")
    noise = draw_noise(mechanism, Invariants.total(cells), n_draws=DRAWS, rng=rng)
    free = Invariants(np.zeros((0, cells), dtype=np.int64))
    unconstrained = draw_noise(mechanism, free, n_draws=DRAWS, rng=rng).sum(axis=1)
    figure = Figure(figsize=(8.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 1))

    place = np.arange(cells)
    low, first, third, high = np.quantile(noise, [0.025, 0.25, 0.75, 0.975], axis=0)
    left.fill_between(place, low, high, step="mid", color=BAND, label="95 % of the draws")
    left.fill_between(place, first, third, step="mid", color=MIDDLE, label="half of the draws")
    left.plot(place, noise[0], "s", color=DRAW, markersize=4, label="one draw")
    left.axhline(0, color=FAINT, linewidth=0.8)
    shown = [*range(0, cells - 12, 15), cells - 1]
    labels = [f"{names[i]}\n{populations[i]:,}" for i in shown]
    left.set_xticks(shown, labels, fontsize=7.5)
    left.set(xlim=(-1, cells), ylabel="noise (persons)")
    left.set_xlabel("102 counties of Illinois by population in 2010 (every 15th has its name)")
    left.set_title("Every county has integer noise", loc="left")
    left.legend(ncols=3, frameon=False, loc="upper left")
    left.set_ylim(-32, 33)

    edges = np.arange(-260, 261, 20)
    share = np.full(DRAWS, 1 / DRAWS)
    right.hist(unconstrained, edges, weights=share, color=FAINT, label="independent noise")
    right.hist(noise.sum(axis=1), edges - 10, weights=share, color=DRAW, label="isdp: always 0")
    right.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    right.set(xlabel="error of the total (persons)", ylabel="share of the draws")
    right.set_ylim(0, 1.25)
    right.set_yticks([0, 0.25, 0.5, 0.75, 1])
    right.set_title("The state's total is exact", loc="left")
    right.legend(frameon=False, loc="upper left")
    return figure


def main(path: Path) -> None:
    """Read the counts and draw the picture."""
    published = read_published(BASE / "data/census2010_county_population.csv")
    counties = published[published["state"] == "IL"].sort_values("population")
    names = [name.removesuffix(" County") for name in counties["county"]]
    draw(names, counties["population"].to_numpy()).savefig(path, dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
