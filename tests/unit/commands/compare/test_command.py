import os
import re
from fractions import Fraction

import pandas as pd
import pytest

from isdp.commands.compare.files import FILES
from isdp.commands.compare.report import markdown
from isdp.commands.compare.run import compare
from tests.unit.commands.compare.conftest import places

TABLE, PAGE = "comparison.csv", "comparison.md"
ONE = ("--epsilon", "1")
SWAPPING = ("--rate", "0.1")  # hangs on the counts, and takes least


def test_with_a_stand_in_the_files_may_be_shown(run):
    stand_in = str(run.folder / "stand_in.csv")
    assert run("--stand-in", stand_in, picture=True) == 0
    assert {path.name for path in run.out.iterdir()} == {
        name for name in FILES if not name.startswith("CONF")
    }
    assert "CONFIDENTIAL" not in run.capsys.readouterr().out
    for name in (TABLE, PAGE, "comparison.svg"):
        assert "CONFIDENTIAL" not in (run.out / name).read_text()
    found = compare(
        run.folder / "cells.csv",
        run.folder / "rules.yaml",
        epsilons=[1.0],
        rhos=[0.5],
        rates=[0.1],
        stand_in=stand_in,
        simulations=10,
    )
    written = pd.read_csv(run.out / TABLE)
    pd.testing.assert_frame_equal(written, found.errors, rtol=1e-5, check_dtype=False)
    page = (run.out / PAGE).read_text()
    assert page == markdown(found)
    groups = written[["flavour", "unit"]].drop_duplicates()
    headings = re.findall("^## (.*), for one (.*)$", page, re.MULTILINE)
    assert headings == [(row.flavour, row.unit.removeprefix("one ")) for row in groups.itertuples()]
    assert len(groups) == 3
    # a system alone in its group has no rank
    (alone,) = re.findall(r"### rate 0\.1\n(.*?)\n## ", page, re.DOTALL)
    assert not re.search(r"\(\d\)", alone)


def test_with_the_real_counts_every_file_is_marked(run):
    run.table(places())
    assert run(picture=True, budgets=(*ONE, "--rate", "0.1")) == 0
    names = {path.name for path in run.out.iterdir()}
    assert names == {name for name in FILES if name.startswith("CONFIDENTIAL_")}
    assert run.capsys.readouterr().out.startswith("CONFIDENTIAL: ")
    page = (run.out / f"CONFIDENTIAL_{PAGE}").read_text()
    assert page.startswith("**CONFIDENTIAL: ")
    assert "cells.csv" in page.splitlines()[0]
    assert set(pd.read_csv(run.out / f"CONFIDENTIAL_{TABLE}")["marking"]) == {"CONFIDENTIAL"}
    assert "CONFIDENTIAL" in (run.out / "CONFIDENTIAL_comparison.svg").read_text()


def test_cells_with_counts_may_come_from_a_pipe_that_can_be_read_only_once(run):
    end, start = os.pipe()
    os.write(start, places().to_csv(index=False).encode())
    os.close(start)
    assert run("--cells", f"/dev/fd/{end}", budgets=SWAPPING) == 0
    os.close(end)
    piped = (run.out / f"CONFIDENTIAL_{TABLE}").read_text()
    run.table(places())
    assert run("--force", budgets=SWAPPING) == 0
    assert (run.out / f"CONFIDENTIAL_{TABLE}").read_text() == piped


def test_files_of_the_other_kind_do_not_stay_beside_new_ones(run):
    assert run(budgets=ONE) == 0
    run.table(places())
    assert "--force replaces it" in run.refused(budgets=SWAPPING)
    assert run("--force", budgets=SWAPPING) == 0
    assert {path.name for path in run.out.iterdir()} == {
        f"CONFIDENTIAL_{name}" for name in (TABLE, PAGE)
    }


def test_where_totals_overlap_figures_are_bounded_or_simulated_and_say_so(run):
    run.write("totals: [county, [sex, age]]", "rules.yaml")
    assert run(budgets=(*ONE, "--rho", "0.5")) == 0
    marks = pd.read_csv(run.out / TABLE).query("query == 'cells'").set_index("system")["rmse_is"]
    assert marks.to_dict() == {
        "integer noise": "simulated",
        "projected Laplace noise": "exact",
        "integer Gaussian noise": "bounded",
        "projected Gaussian noise": "exact",
    }
    page = (run.out / PAGE).read_text()
    table = pd.read_csv(run.out / TABLE).query("rmse_is == 'bounded' and query == 'cells'")
    (bound,) = re.findall(r"\| cells .*at most ([0-9.]+)", page)
    assert 0 <= float(bound) / table["rmse"].item() - 1 < 0.01
    assert "The held totals overlap" in page
    assert "at most k squared times if it is zero-concentrated" in page
    assert "An upper bound is ranked as if it were the error." in page


def test_no_loss_is_said_to_be_less_than_it_is(run):
    """A third ends in no decimals: rounded down it would be less than what is spent."""
    budgets = ("--epsilon", "1/3", "--rho", "2/3", "--rate", "1/3")
    assert run("--stand-in", str(run.folder / "stand_in.csv"), budgets=budgets) == 0
    page = (run.out / PAGE).read_text()
    assert "### epsilon 0.333334" in page
    assert "epsilon 0.333334 is rho 0.0555556" in page
    assert "### rho 0.666667" in page
    # the commands are given what is spent, and no more
    given = re.findall(r"`isdp (\w+) .*?--(epsilon|rho|rate) ([0-9./]+)`", page)
    spent = {"epsilon": Fraction(1, 3), "rho": Fraction(2, 3), "rate": Fraction(1, 3)}
    assert {(command, name) for command, name, _ in given} == {
        ("privatize", "epsilon"),
        ("privatize", "rho"),
        ("topdown", "epsilon"),
        ("topdown", "rho"),
        ("swap", "rate"),
    }
    for command, name, number in given:
        most = spent[name] / (2 if command == "privatize" else 1)
        assert most - Fraction(1, 10**15) < Fraction(number) <= most + Fraction(1, 10**16)
    assert run("--force", budgets=("--epsilon", "1/3", "--rho", "2/3")) == 0
    assert "left out: TopDown, rho 0.666667: " in run.capsys.readouterr().out


FEW = ",".join(map(str, range(1, 30)))
OTHER = places().assign(county=lambda table: table["county"].str.replace("North 0", "Nowhere"))
MORE = pd.concat([places(), places()[:1].assign(county="North 9")])
HOSTILE = {
    "no cells": ({"cells.csv": None}, "", "cells.csv"),
    "a spreadsheet": ({"cells.csv": b"PK\x03\x04rest"}, "", "cells.csv"),
    "a name twice": ({"cells.csv": "state,sex\nN,f\nN,f\n"}, "", "'N, f'"),
    "counts alone": ({"cells.csv": "count\n1\n"}, "", "'count'"),
    "a negative count": ({"cells.csv": "state,sex,count\nN,f,-1\nN,m,2\n"}, "", "'count'"),
    "no rules": ({"rules.yaml": None}, "", "rules.yaml"),
    "an unknown column": ({"rules.yaml": "totals: [stat]"}, "", "'stat'"),
    "all cells held": ({"rules.yaml": "totals: [[county, sex, age]]"}, "", "rules.yaml"),
    "no stand-in": ({}, "--stand-in none.csv", "none.csv"),
    "a stand-in of other cells": (
        {"other.csv": OTHER.to_csv(index=False)},
        "--stand-in other.csv",
        "'North, North 0, f, young'",
    ),
    "a stand-in of more cells": (
        {"other.csv": MORE.to_csv(index=False)},
        "--stand-in other.csv",
        "'North, North 9, f, young'",
    ),
    "a stand-in without counts": (
        {"other.csv": places().drop(columns="count").to_csv(index=False)},
        "--stand-in other.csv",
        "'count'",
    ),
    "a stand-in without a column": (
        {"other.csv": places().drop(columns="sex").to_csv(index=False)},
        "--stand-in other.csv",
        "'sex'",
    ),
    **{
        f"{option} {value}": ({}, f"{option}={value}", option.strip("-"))
        for option, values in {
            "--epsilon": ("0", "nan", "1e99999999", "1e-300", "1,,2", FEW),
            "--rho": ("-1", "inf"),
            "--rate": ("1",),
            "--simulations": ("9", "99999999", "many"),
            "--seed": ("-1",),
            "--region": ("nation",),
            "--area": ("tract",),
        }.items()
        for value in values
    },
    "one column for both": ({}, "--region sex --area sex", "--area"),
    "a name that is none": ({}, "--name race", "'race'"),
    "no sums": ({}, "--sums none.yaml", "none.yaml"),
    "sums of no column": ({"sums.yaml": "totals: [race]"}, "--sums sums.yaml", "'race'"),
    "a file in place of the folder": ({"out": "text"}, "", "out"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(run, case, monkeypatch):
    contents, options, named = HOSTILE[case]
    monkeypatch.chdir(run.folder)
    for name, text in contents.items():
        if text is None:
            (run.folder / name).unlink()
        else:
            run.write(text, name)
    assert named in run.refused(*options.split())


@pytest.mark.parametrize(
    ("budgets", "words"),
    [
        ((), "--epsilon, --rho, --rate"),
        (("--rate", "0.1"), "no system applies.*swapping.*--stand-in"),
    ],
)
def test_nothing_to_compare_is_said(run, budgets, words):
    assert re.search(words, run.refused(budgets=budgets))


def test_nobody_in_a_stand_in_leaves_nothing_to_swap(run):
    run.table(places().assign(count=0), "stand_in.csv")
    options = ("--stand-in", str(run.folder / "stand_in.csv"), "--simulations", "10")
    assert run(*options, budgets=(*ONE, "--rate", "0.1")) == 0
    assert "left out: permutation swapping" in run.capsys.readouterr().out


def test_names_that_differ_in_blanks_alone_are_said(run, caplog):
    cells = pd.read_csv(run.folder / "cells.csv")
    cells.loc[0, "state"] += " "
    run.table(cells)
    assert run(budgets=ONE) == 0
    assert "state: 'North' and 'North ' differ only in whitespace" in caplog.text
