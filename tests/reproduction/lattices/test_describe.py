"""Tables and figures of an experiment, where exact draws exist and where none are practical."""

import numpy as np
import pandas as pd
import pytest

from isdp import GeneralizedLaplace, Invariants
from isdp.io.draws import Draws
from isdp.io.files import write_csv
from reproduction.exactness.experiment import compare_distributions
from reproduction.jobs.tables import read_csv
from reproduction.lattices.constraints_figures import plot_constraints
from reproduction.lattices.convergence import gather_bound_points
from reproduction.lattices.entry import list_constraint_pairs
from reproduction.lattices.figures import plot_experiment
from reproduction.lattices.noise import describe_noise

TABLE = Invariants.margins((3, 3))
CELLS = [f"cell {i}" for i in range(TABLE.cells)]
LAW = {"norm": "l1", "epsilon": 0.25}
MECHANISMS = {"l1": GeneralizedLaplace(0.25)}
REFUSED = {"method": "none", "refused": "too large"}
DRAWN = {"method": "messages", "reason": "few sums", "error": 0.0}
CURVE = pd.DataFrame(
    {"t": [0, 9], "bound": [1.0, 0.0], "low": 0.0, "high": 1.0, "at_least": 0.0}
).assign(law="l1", variant="reduced", lag=4, censored=0, chosen=True)
NO_DISTANCES = pd.DataFrame(columns=["law", "variant", "t", "statistic", "distance", "error"])
NUMBERS = {"runs": 10, "draws": 80, "exact_draws": 40, "unit": "cell"}


def draws(noise, settings):
    labels = {"experiment": "large", "law": "l1", "unit": ""}
    return Draws(noise, TABLE, CELLS, settings | labels)


def walked(seed):
    """Tables whose margins are zero, as if from chains."""
    sides = np.random.default_rng(seed).integers(-3, 4, (2, 4, 20, 3))
    sides[..., -1] -= sides.sum(axis=-1)
    return draws(np.einsum("ndi,ndj->ndij", *sides).reshape(4, 20, -1), {})


REFUSAL = draws(np.zeros((4, 0, TABLE.cells), np.int64), REFUSED)
EXACT = draws(walked(3).noise, DRAWN)


def described(exact, samplers=("paper", "mcmc")):
    """All tables of the experiment, with the chains of these samplers."""
    chains = {name: {"l1": walked(seed)} for seed, name in enumerate(samplers, start=1)}
    tables = describe_noise(chains[samplers[-1]], {"l1": exact}, MECHANISMS, "large")
    return tables | compare_distributions(1, "large", MECHANISMS, chains, {"l1": exact})


def drawn(tables, tmp_path):
    """Figures from the tables as they come back from their files, as text."""
    read = {"curves": CURVE, "distances": NO_DISTANCES}
    for name, table in tables.items():
        write_csv(table, tmp_path / f"{name}.csv")
        read[name] = read_csv(tmp_path / f"{name}.csv")
    figures = plot_experiment("large", {"l1": LAW}, read, **NUMBERS)
    texts = {}
    for name, figure in figures.items():
        found = [text.get_text() for axis in figure.axes for text in axis.texts]
        found += [axis.get_title(loc="left") for axis in figure.axes]
        found += [label.get_text() for axis in figure.axes for label in axis.get_yticklabels()]
        for legend in (axis.get_legend() for axis in figure.axes):
            found += [text.get_text() for text in legend.get_texts()] if legend else []
        texts[name] = "\n".join([*found, figure.get_suptitle()])
    return texts


def test_where_no_law_has_a_perfect_sampler_tables_of_exact_draws_are_empty():
    tables = described(REFUSAL)
    for name in ("summary", "boxes"):
        assert tables[f"exact_{name}"].empty
        assert len(tables[name]) >= TABLE.cells
        assert tables[f"exact_{name}"].columns.tolist() == tables[name].columns.tolist()
    assert tables["agreement"]["sampler"].tolist() == ["paper", "mcmc"]
    assert tables["agreement"]["note"].tolist() == ["too large"] * 2
    assert set(tables["laws"]["sampler"]) == {"paper", "mcmc"}


def test_exact_draws_are_described_like_chains_and_laid_under_them(tmp_path):
    tables = described(EXACT)
    assert tables["exact_summary"]["cell"].tolist() == CELLS
    assert tables["exact_summary"]["mean"].to_numpy() == pytest.approx(
        EXACT.noise.mean(axis=(0, 1))
    )
    assert tables["norms"].columns[0] == "experiment"
    assert tables["norms"]["experiment"].tolist() == ["large"]
    assert {"exact", "paper", "mcmc"} < set(tables["laws"]["sampler"])
    texts = drawn(tables, tmp_path)
    assert "practical" not in texts["exact"] + texts["laws"]
    assert "our faster chain" in texts["laws"]


def test_points_of_bounds_are_the_curves_and_the_distances_of_their_laws():
    distances = pd.DataFrame({"law": ["l1", "l2"], "t": [3, 4], "distance": [0.5, 0.25]})
    points = gather_bound_points(CURVE, distances)
    assert points["series"].tolist() == ["bound", "bound", "actual distance"]
    assert points["actual_distance"].tolist()[-1] == 0.5
    assert set(points["law"]) == {"l1"}


def test_constraints_are_listed_and_drawn_with_their_records():
    entry = {"records": 4, "constraints": {"B": [2, 4], "A": [1]}}
    pairs = list_constraint_pairs(entry["constraints"])
    assert pairs["constraint"].tolist() == ["B", "B", "A"]
    assert pairs["record"].tolist() == [2, 4, 1]
    (axis,) = plot_constraints(entry["constraints"], entry["records"]).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["B", "A"]
