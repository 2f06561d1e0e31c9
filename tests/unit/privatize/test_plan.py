"""isdp plan: what noise to expect, before a count is looked at."""

import json
import math
from fractions import Fraction

import pandas as pd
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace
from isdp.cli import main
from isdp.privatize import Request
from isdp.privatize.outlook import FILES, PICTURES, _setting_at, _step_of, design
from tests import ROOT

CELLS = ROOT / "docs/example/ages.csv"
RULES = ROOT / "docs/example/ages.yaml"
NESTED = "total: true\ntotals: [county]\n"


@pytest.fixture
def asked(tmp_path, capsys):
    """The command in a folder of its own, which says what it said."""

    def ask(*options, cells=CELLS, rules=RULES, wanted=0, picture=False):
        arguments = ["plan", "--cells", str(cells), "--invariants", str(rules)]
        arguments += ["--out", str(tmp_path / "plan"), *([] if picture else ["--no-picture"])]
        before = sorted(tmp_path.rglob("*"))
        assert main([*arguments, *options]) == wanted
        spoken = capsys.readouterr()
        if wanted:
            assert spoken.err.startswith("isdp: ")
            assert spoken.err.count("\n") == 1
            assert len(spoken.err) < 1000
            assert sorted(tmp_path.rglob("*")) == before
            return spoken.err
        return spoken.out

    return ask


def test_what_is_written_and_said(asked, tmp_path):
    said = asked("--epsilon", "0.25", picture=True)
    assert {path.name for path in (tmp_path / "plan").iterdir()} == set(FILES)
    assert "epsilon 0.25: 16 cells, 14 degrees of freedom" in said
    assert "sampler: isdp.exact.release" in said
    table = pd.read_csv(tmp_path / "plan/plan.csv").set_index("name")
    assert table.loc["a cell among 8 with one total", "cells"] == 16
    assert table.loc["sex: f", "cells"] == 8
    assert (table["sd_is"] == "exact").all()
    assert table.loc["county: North", "sd"] == 0
    content = json.loads((tmp_path / "plan/plan.json").read_text())
    assert "epsilon per person is at most 0.5" in content["guarantee"]
    assert len(content["margins"]) == len(table)
    curve = pd.read_csv(tmp_path / "plan/curve.csv")
    assert set(curve["epsilon"]) == {0.25 * 2.0**power for power in range(-3, 4)}
    for _, line in curve.groupby("name"):
        assert line.sort_values("epsilon")["sd"].is_monotonic_decreasing


def test_no_count_is_looked_at(asked, tmp_path):
    texts = []
    for counts in (None, ["7"] * 16, ["no", "-3.5", "", "2e9"] * 4):
        cells = pd.read_csv(CELLS, dtype=str).drop(columns="count")
        if counts is not None:
            cells.insert(1, "count", counts)
        cells.to_csv(tmp_path / "cells.csv", index=False)
        asked("--epsilon", "0.5", "--force", cells=tmp_path / "cells.csv")
        texts.append((tmp_path / "plan/plan.csv").read_bytes())
    assert texts[0] == texts[1] == texts[2]


def test_sums_of_ones_own(asked, tmp_path):
    (tmp_path / "sums.yaml").write_text("subsets: {young women: {sex: f, age: [0-17, 18-44]}}")
    asked("--epsilon", "0.5", "--sums", str(tmp_path / "sums.yaml"))
    table = pd.read_csv(tmp_path / "plan/plan.csv").set_index("name")
    assert table.loc["subset young women", "cells"] == 4
    assert len(table) == 2


@pytest.mark.parametrize(
    ("error", "name"), [(20, None), (3, None), (50, "sex: f"), (1000, "age: 65+"), (1, "sex: m")]
)
@pytest.mark.parametrize("start", [0.001, 0.25, 30])
def test_the_epsilon_for_an_error_is_the_smallest_that_will_do(error, name, start):
    cells = design(CELLS, RULES)
    found = cells.needed(Request(GeneralizedLaplace(start), epsilon=start), error, name)
    value = found.mechanism.epsilon
    assert float(f"{value:.3g}") == value

    def largest(epsilon):
        outlook = cells.outlook(Request(GeneralizedLaplace(epsilon), epsilon=epsilon))
        wanted = [
            m for m in outlook.margins if (m.what == "cell" if name is None else m.name == name)
        ]
        assert wanted
        return max(margin.limit.value for margin in wanted)

    assert largest(value) <= error
    assert largest(float(_setting_at(_step_of(value) - 1))) > error


def test_the_sigma_for_an_error_is_the_largest_that_will_do(asked, tmp_path):
    asked("--sigma", "1", "--for-experiments", "--error", "15")
    content = json.loads((tmp_path / "plan/plan.json").read_text())
    cell = content["margins"][0]
    assert cell["limit_95"] == 15
    # 1.96 deviations of the projected Gaussian end half between 15 and 16; three digits are said
    assert content["sigma"] == math.floor(100 * 15.5 / 1.96 / (7 / 8) ** 0.5) / 100


def test_a_request_of_gaussian_noise_stays_of_one_law():
    """The draw that is tried is of the law that was found, not of the one it started from."""
    cells = design(CELLS, RULES)
    start = Request(GeneralizedGaussian(1.0), rho=Fraction(1, 2))
    found = cells.needed(start, 15)
    assert found.rho == 1 / (2 * Fraction(str(found.mechanism.sigma)) ** 2)
    assert found.epsilon is None


def test_a_table_without_a_sampler_for_release_is_told_so(asked, tmp_path):
    rows = [f"{a},{b}" for a in range(30) for b in range(40)]
    (tmp_path / "cells.csv").write_text("a,b\n" + "\n".join(rows))
    (tmp_path / "rules.yaml").write_text("totals: [a, b]")
    more = {"cells": tmp_path / "cells.csv", "rules": tmp_path / "rules.yaml"}
    said = asked("--epsilon", "0.05", **more)
    assert "sampler: none; " in said
    content = json.loads((tmp_path / "plan/plan.json").read_text())
    assert "refused" in content["sampler"]


def test_the_release_has_the_margins_of_the_plan(asked, tmp_path):
    asked("--epsilon", "0.25")
    arguments = ["privatize", str(CELLS), "--invariants", str(RULES), "--epsilon", "0.25"]
    assert main([*arguments, "--out", str(tmp_path / "noisy"), "--no-picture"]) == 0
    assert (tmp_path / "noisy/margins.csv").read_text() == (tmp_path / "plan/plan.csv").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--epsilon is missing"),
        (("--epsilon", "0"), "epsilon must lie between"),
        (("--epsilon", "nan"), "epsilon must be a number"),
        (("--epsilon", "1e-400000000"), "epsilon must lie between"),
        (("--error", "many"), "--error must be a number of persons"),
        (("--error", "0"), "from 1 up"),
        (("--error", "-3"), "from 1 up"),
        (("--error", "0.5"), "from 1 up"),
        (("--error", "inf"), "from 1 up"),
        (("--error", "nan"), "from 1 up"),
        (("--error", "1e300"), "keeps the error within 1e+300; wish for a smaller error"),
        (("--rho", "1", "--error", "1e300"), "every sigma from 1e-06 to 1000 keeps"),
        (("--error", "5", "--error-of", "nobody"), "nothing is called 'nobody'"),
        (("--epsilon", "1", "--error-of", "sex: f"), "give --error too"),
        (("--epsilon", "1", "--sigma", "2"), "exclude --epsilon"),
        (("--sigma", "x"), "sigma must be a number"),
        (("--sigma", "0"), "sigma must lie between"),
        (("--epsilon", "1", "--sums", "no.yaml"), "there is no such file"),
        (("--epsilon", "1", "--name", "town"), "'town' is not one of"),
        (("--epsilon", "1", "--name", "sex"), "are both called"),
        (("--epsilon", "1", "--seed", "-1"), "--seed must be a whole number"),
    ],
)
def test_options_that_are_refused(asked, options, words):
    assert words in asked(*options, wanted=2)


@pytest.mark.parametrize(
    ("cells", "rules", "words"),
    [
        ("", NESTED, "the file is empty"),
        ("county\n", NESTED, "no rows below its header"),
        ("count\n1\n2\n", NESTED, "no column but 'count'"),
        ("county\nA\nA\n", NESTED, "are both called 'A'"),
        ("county\nA\n\n", NESTED, "settle every cell"),
        ("county,age\nA,\nA,1\n", NESTED, "age is empty"),
        ("county,age\nA,0\nA,1\n", "totals: [town]", "'town' is no column"),
        ("county,age\nA,0\nA,1\n", "totals: [count]", "'count' is no column"),
        ("county,age\nA,0\nA,1\n", "totals: [[county, age]]", "settle every cell"),
        ("county,age\nA,0\nA,1\n", "", "the file is empty"),
        ("county,age\nA,0\nA,1\n", "{", "no YAML"),
        ("county;age\nA;0\nA;1\n", "totals: [county]", "'county' is no column"),
        ("a\0,b\n", NESTED, "zero bytes"),
    ],
)
def test_files_that_are_refused(asked, tmp_path, cells, rules, words):
    (tmp_path / "cells.csv").write_text(cells)
    (tmp_path / "rules.yaml").write_text(rules)
    more = {"cells": tmp_path / "cells.csv", "rules": tmp_path / "rules.yaml"}
    assert words in asked("--epsilon", "1", wanted=2, **more)


def test_too_many_sums_are_refused(asked, tmp_path):
    (tmp_path / "cells.csv").write_text("cell\n" + "\n".join(map(str, range(1001))))
    (tmp_path / "rules.yaml").write_text("total: true")
    (tmp_path / "sums.yaml").write_text("totals: [cell]")
    more = {"cells": tmp_path / "cells.csv", "rules": tmp_path / "rules.yaml"}
    words = asked("--epsilon", "1", "--sums", str(tmp_path / "sums.yaml"), wanted=2, **more)
    assert "1,001 named sums are too many" in words


def test_files_that_are_there_stay(asked, tmp_path):
    asked("--epsilon", "1")
    before = (tmp_path / "plan/plan.csv").read_bytes()
    assert "is there already" in asked("--epsilon", "2", wanted=2)
    assert (tmp_path / "plan/plan.csv").read_bytes() == before
    assert not any((tmp_path / "plan" / name).exists() for name in PICTURES)


def test_steps_of_three_digits():
    for value in (0.001, 0.00999, 0.124, 1.0, 9.99, 10.0, 123.0):
        assert float(_setting_at(_step_of(value))) == value
        assert _step_of(float(_setting_at(_step_of(value) + 1))) == _step_of(value) + 1
    assert float(_setting_at(_step_of(0.12345))) == 0.123
