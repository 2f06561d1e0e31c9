"""isdp plan: what noise to expect, before a count is looked at."""

import json
import math
import re
from fractions import Fraction

import pandas as pd
import pytest

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError
from isdp.cli import main
from isdp.commands.plan import FILES, INTERVALS, read_planned_table
from isdp.commands.shared.margins import Estimate, Margin, short_margin_table
from isdp.commands.shared.noise_levels import LEVELS
from isdp.commands.shared.request import NoiseRequest
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


def test_given_totals_are_audited(asked, tmp_path):
    """County North has no one, so that its 8 counts are 0; those of South are at most 100."""
    totals = tmp_path / "totals.csv"
    totals.write_text("name,total\ncounty: North,0\ncounty: South,100\n")
    rules = tmp_path / "rules.yaml"
    rules.write_text("totals: [county]\n")
    said = asked("--epsilon", "0.5", "--totals", str(totals), rules=rules)
    assert "bound 8 counts closely" in said
    intervals = pd.read_csv(tmp_path / "plan" / INTERVALS)
    assert sorted(intervals["upper"]) == [0] * 8 + [100] * 8
    totals.write_text("name,total\ncounty: North,0\n")
    assert "is missing" in asked(
        "--epsilon", "0.5", "--force", "--totals", str(totals), rules=rules, wanted=2
    )


def test_what_is_written_and_said(asked, tmp_path):
    said = asked("--epsilon", "0.5", picture=True)
    assert {path.name for path in (tmp_path / "plan").iterdir()} == set(FILES) - {LEVELS, INTERVALS}
    assert "epsilon 0.5 per person: 16 cells, 14 degrees of freedom" in said
    assert "sampler: isdp.draw_noise" in said
    table = pd.read_csv(tmp_path / "plan/plan.csv").set_index("name")
    assert table.loc["a cell in a group of 8 whose total is held", "cells"] == 16
    assert table.loc["sex: f", "cells"] == 8
    assert (table["sd_is"] == "exact").all()
    assert table.loc["county: North", "sd"] == 0
    content = json.loads((tmp_path / "plan/plan.json").read_text())
    assert "epsilon per person is at most 0.5" in content["guarantee"]["statement"]
    assert len(content["margins"]) == len(table)
    curve = pd.read_csv(tmp_path / "plan/curve.csv")
    assert set(curve["epsilon"]) == {0.5 * 2.0**power for power in range(-3, 4)}
    similar = curve.groupby("name")["similar"].first()
    ages = pd.read_csv(CELLS)["age"].nunique()
    assert similar[similar.index.str.startswith("age: ")].tolist() == [ages - 1]
    for _, line in curve.groupby("name"):
        assert line.sort_values("epsilon")["sd"].is_monotonic_decreasing


def test_a_column_of_counts_that_does_not_exist_is_refused(tmp_path):
    cells = pd.read_csv(CELLS).rename(columns={"count": "people"})
    cells.assign(people=7).to_csv(tmp_path / "cells.csv", index=False)
    with pytest.raises(InputError, match="--count"):
        read_planned_table(tmp_path / "cells.csv", RULES, count="peple")


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


@pytest.mark.parametrize(
    "errors",
    [
        {"cell": 10},
        {"cell": 1.5},
        {"sex: f": 25},
        {"age: 65+": 500},
        {"sex: m": 0.5},
        {"cell": 10, "sex: f": 15},
    ],
)
@pytest.mark.parametrize("start", [0.001, 0.25, 30])
def test_the_epsilon_for_errors_is_the_smallest_that_will_do(errors, start):
    cells = read_planned_table(CELLS, RULES)
    found = cells.request_for_errors(NoiseRequest(GeneralizedLaplace(start)), errors)
    value = found.mechanism.epsilon
    assert float(f"{value:.3g}") == value

    def meets(epsilon):
        margins = cells.forecast(NoiseRequest(GeneralizedLaplace(epsilon))).margins
        found = {"cell" if m.scope == "cell" else m.name: m.sd.value for m in margins}
        return all(found[name] <= error for name, error in errors.items())

    assert meets(value)
    below = value - 10.0 ** (math.floor(math.log10(value) - 1e-9) - 2)
    assert float(f"{below:.3g}") == pytest.approx(below)
    assert not meets(below)


def test_the_sigma_for_an_error_is_the_largest_that_will_do(asked, tmp_path):
    asked("--sigma", "1", "--for-experiments", "--error", "cell=7.5")
    content = json.loads((tmp_path / "plan/plan.json").read_text())
    # eight cells share a total, so that the projection keeps 7/8 of the variance of a cell
    assert content["sigma"] == math.floor(100 * 7.5 / (7 / 8) ** 0.5) / 100
    assert content["margins"][0]["sd"] == pytest.approx(7.5, rel=0.01)


def test_a_request_of_gaussian_noise_stays_of_one_law():
    """The draw that is tried is of the law that was found, not of the one it started from."""
    cells = read_planned_table(CELLS, RULES)
    found = cells.request_for_errors(NoiseRequest(GeneralizedGaussian(1.0)), {"cell": 7.5})
    assert found.rho == 1 / (2 * Fraction(str(found.mechanism.sigma)) ** 2)
    assert found.epsilon is None


def two_way(folder, rows, columns):
    """Cells of a two-way table without counts, and the file that holds both of its margins."""
    cells = [f"r{a},c{b}" for a in range(rows) for b in range(columns)]
    (folder / "cells.csv").write_text("row,column\n" + "\n".join(cells))
    (folder / "rules.yaml").write_text("totals: [row, column]")
    return {"cells": folder / "cells.csv", "rules": folder / "rules.yaml"}


def lines_of_margins(said):
    return [line for line in said.splitlines() if ": sd " in line]


def test_sums_that_are_held_are_one_line(asked, tmp_path):
    regions = [f"r{a},{b}" for a in range(20) for b in ("f", "m")]
    (tmp_path / "cells.csv").write_text("region,sex\n" + "\n".join(regions))
    for rules, held in (("[region]", 20), ("[region, sex]", 22), ("[sex]", 2)):
        (tmp_path / "rules.yaml").write_text(f"totals: {rules}")
        more = {"cells": tmp_path / "cells.csv", "rules": tmp_path / "rules.yaml"}
        said = asked("--epsilon", "0.25", "--force", **more)
        (line,) = [line for line in said.splitlines() if "held exactly" in line]
        assert line.split()[0] == str(held)
        assert not any("sd 0" in line for line in lines_of_margins(said))
        table = pd.read_csv(tmp_path / "plan/plan.csv")
        exactly = table[(table["what"] == "sum") & (table["sd"] == 0)]
        assert len(exactly) == held
        assert (exactly[["sd_is", "limit_95_is", "chance_unchanged_is"]] == "exact").all(axis=None)
        assert (exactly["chance_unchanged"] == 1).all()


def test_totals_without_any_sampler_are_refused(asked, tmp_path):
    more = two_way(tmp_path, 30, 40)
    # a third partition, and too many degrees of freedom for Klein's sampler
    cells = more["cells"].read_text().splitlines()
    rows = [f"{cell},d{number % 7}" for number, cell in enumerate(cells[1:])]
    more["cells"].write_text("\n".join([f"{cells[0]},diagonal", *rows]))
    more["rules"].write_text("totals: [row, column, diagonal]")
    said = asked("--epsilon", "0.05", "--per-unit", wanted=2, **more)
    assert "--invariants" in said
    assert "--sigma" not in said


def test_the_gaussian_noise_that_a_refusal_names_can_be_drawn(asked, tmp_path, capsys):
    """Twelve rows and columns are too many for Laplace noise; the scale that is named is drawn."""
    more = two_way(tmp_path, 12, 12)
    said = asked("--epsilon", "1", wanted=2, **more)
    sigma = re.search(r"--sigma (\S+)", said)[1]
    laplace_sd = math.sqrt(2 * math.exp(-0.25)) / (1 - math.exp(-0.25))
    assert float(sigma) == pytest.approx(laplace_sd, rel=0.05)
    table = pd.read_csv(tmp_path / "cells.csv")
    table["count"] = [7 * i % 31 for i in range(len(table))]
    table.to_csv(tmp_path / "table.csv", index=False)
    arguments = ["privatize", str(tmp_path / "table.csv"), "--invariants", str(more["rules"])]
    arguments += ["--out", str(tmp_path / "noisy"), "--no-picture"]
    assert main([*arguments, "--epsilon", "1"]) == 2
    assert capsys.readouterr().err == said
    assert not (tmp_path / "noisy").exists()
    assert main([*arguments, "--sigma", sigma]) == 0
    assert lines_of_margins(asked("--sigma", sigma, **more))


def test_noise_that_privatize_refuses_as_too_weak_is_refused_unless_accepted(asked):
    assert "--accept weak-noise" in asked("--epsilon", "25", wanted=2)
    assert "epsilon 25" in asked("--epsilon", "25", "--accept", "weak-noise")


def test_a_sum_that_is_held_has_no_error_to_plan_for(asked):
    assert "'county: North'" in asked("--error", "county: North=20", wanted=2)


def test_the_release_has_the_margins_of_the_plan(asked, tmp_path):
    asked("--epsilon", "0.25")
    arguments = ["privatize", str(CELLS), "--invariants", str(RULES), "--epsilon", "0.25"]
    assert main([*arguments, "--out", str(tmp_path / "noisy"), "--no-picture"]) == 0
    full = tmp_path / "noisy/margins_full.csv"
    assert full.read_text() == (tmp_path / "plan/plan.csv").read_text()
    short, long = pd.read_csv(tmp_path / "noisy/margins.csv"), pd.read_csv(full)
    assert list(short) == ["name", "cells", "sd", "limit_95", "how"]
    assert short.iloc[:, :4].equals(long[list(short)[:4]].astype({"limit_95": int}))
    assert short["how"].eq("exact").all()


def test_the_short_table_gives_the_less_certain_method():
    exact, bound = Estimate(1.5, "exact"), Estimate(4.0, "bounded")
    unknown, drawn = Estimate(math.nan, "unknown"), Estimate(3.0, "simulated", 1.0)
    pairs = [(exact, bound), (bound, drawn), (exact, unknown)]
    margins = [Margin("sum", "a", 2, sd, limit, exact, {}) for sd, limit in pairs]
    table = short_margin_table(margins)
    assert table["how"].tolist() == ["bound", "simulated", "unknown"]
    assert table["limit_95"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("", "epsilon"),
        ("--epsilon=0", "epsilon"),
        ("--epsilon=1e-400000000", "epsilon"),
        ("--epsilon=1 --sigma=2", "sigma"),
        ("--sigma=0", "sigma"),
        ("--seed=-1 --epsilon=1", "--seed"),
        *((f"--error=cell={wrong}", "error") for wrong in ("many", "0", "inf", "nan", "1e300")),
        ("--error=20", "NAME="),
        ("--rho=1 --error=cell=1e300", "error"),
        ("--error=no_such_sum=5", "'no_such_sum'"),
        ("--epsilon=1 --error-of=sex:f", "--error NAME="),
        ("--epsilon=1 --sums=no.yaml", "no.yaml"),
        ("--epsilon=1 --name=town", "'town'"),
    ],
)
def test_options_that_are_refused(asked, options, named):
    assert named in asked(*options.split(), wanted=2)


@pytest.mark.parametrize(
    ("cells", "rules", "named"),
    [
        ("count\n1\n2\n", "total: true", "cells.csv"),
        ("county\nA\n\n", "total: true", "rules.yaml"),
        ("county,age\nA,\nA,1\n", "total: true", "age"),
        ("county,age\nA,0\nA,1\n", "totals: [town]", "'town'"),
        ("county,age\nA,0\nA,1\n", "totals: [county, county]", "rules.yaml: "),
        ("county,age\nA,0\nA,1\n", "!!map [county]", "rules.yaml: line 1: "),
        ("county,age\nA,0\nA,1\n", "totals: [[county, age]]", "rules.yaml"),
        ("cell\n" + "\n".join(map(str, range(1001))), "total: true", "1,001"),
    ],
)
def test_files_that_are_refused(asked, tmp_path, cells, rules, named):
    (tmp_path / "cells.csv").write_text(cells)
    (tmp_path / "rules.yaml").write_text(rules)
    (tmp_path / "sums.yaml").write_text("totals: [cell]")
    sums = ["--sums", str(tmp_path / "sums.yaml")] * cells.startswith("cell")
    more = {"cells": tmp_path / "cells.csv", "rules": tmp_path / "rules.yaml"}
    assert named in asked("--epsilon", "1", *sums, wanted=2, **more)


@pytest.mark.parametrize(("header", "count"), [("Count", "count"), ("persons", "person")])
def test_a_column_of_counts_that_is_not_named_is_refused(tmp_path, capsys, header, count):
    table = (ROOT / "docs/example/table.csv").read_text().replace("count\n", f"{header}\n", 1)
    (tmp_path / "table.csv").write_text(table)
    arguments = ["plan", "--cells", str(tmp_path / "table.csv"), "--epsilon", "1"]
    arguments += ["--invariants", str(ROOT / "docs/example/invariants.yaml"), "--count", count]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    _, refused, columns = said.partition(f"no column {count!r}")
    assert refused
    assert not re.search(r"\d", columns)  # no count is quoted
