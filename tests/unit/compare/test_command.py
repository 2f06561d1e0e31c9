import os
import re
from fractions import Fraction

import pandas as pd
import pytest

from isdp.compare import compare
from isdp.compare.files import FILES
from isdp.compare.report import markdown
from tests.unit.compare.conftest import places

TABLE, PAGE = "comparison.csv", "comparison.md"
ONE = ("--epsilon", "1")
SWAPPING = ("--rate", "0.1")  # hangs on the counts, and takes least


def the_page_ranks_within_a_flavour_and_says_what_would_have_to_be_believed(page):
    headings = re.findall("^## (.*)$", page, re.MULTILINE)
    assert headings == [
        "pure, for one person who changes cell",
        "zCDP, for one person who changes cell",
        "pure, for one unit of record (d_HAM) distance",
        "What each protects",
        "Across flavours and units",
    ]
    assert "epsilon 1 is rho 0.5." in page
    assert page.count("has to believe") == 2
    # a system alone in its group has no rank
    (alone,) = re.findall(r"### rate 0\.1\n(.*?)\n## ", page, re.DOTALL)
    assert not re.search(r"\(\d\)", alone)
    for words in ("± ", "0, held"):
        assert words in page


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
    the_page_ranks_within_a_flavour_and_says_what_would_have_to_be_believed(page)


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
    assert "at most " in page
    assert "The totals held overlap" in page
    assert "of a zero-concentrated loss at most k squared times" in page
    assert "A figure *at most* ranks as if it were attained." in page


def test_one_flavour_needs_no_bridge(run):
    assert run(budgets=ONE) == 0
    page = (run.out / PAGE).read_text()
    assert "All systems here have one flavour and one unit." in page
    assert "as if it were attained" not in page
    assert "believe" not in page
    assert "may be shown" in page


def test_several_budgets_are_told_apart(run):
    assert run(budgets=("--epsilon", "1/4, 1", "--epsilon", "2")) == 0
    assert pd.read_csv(run.out / TABLE)["budget"].unique().tolist() == [0.25, 1, 2]


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


def test_names_of_a_user_do_not_break_the_page(run):
    table = places().rename(columns={"sex": "s|e x"}).drop(columns="count")
    run.table(table)
    assert run(budgets=ONE) == 0
    page = (run.out / PAGE).read_text()
    assert "\n| totals by s\\|e x | 2 |" in page


OTHER = places().assign(county=lambda table: table["county"].str.replace("North 0", "Nowhere"))
MORE = pd.concat([places(), places()[:1].assign(county="North 9")])
HOSTILE = {
    "no cells": ({"cells.csv": None}, (), "no such file"),
    "empty cells": ({"cells.csv": ""}, (), "the file is empty"),
    "only a header": ({"cells.csv": "state,county\n"}, (), "no rows"),
    "a spreadsheet": ({"cells.csv": b"PK\x03\x04rest"}, (), "spreadsheet"),
    "zero bytes": ({"cells.csv": b"state\n\0\n"}, (), "zero bytes"),
    "another encoding": ({"cells.csv": b"state\nM\xfcnchen\n"}, (), "UTF-8"),
    "ragged rows": (
        {"cells.csv": "state,sex\nN,f\nN,m,x\n"},
        (),
        "line 3: 3 fields",
    ),
    "a name twice": ({"cells.csv": "state,sex\nN,f\nN,f\n"}, (), "both called"),
    "a column twice": ({"cells.csv": "state,state\nN,f\n"}, (), "stands there twice"),
    "an empty name": ({"cells.csv": "state,sex\nN,f\nN,\n"}, (), "is empty"),
    "counts alone": ({"cells.csv": "count\n1\n"}, (), "no column beside"),
    "a negative count": ({"cells.csv": "state,sex,count\nN,f,-1\nN,m,2\n"}, (), "negative"),
    "half a person": ({"cells.csv": "state,sex,count\nN,f,0.5\nN,m,2\n"}, (), "decimal point"),
    "a missing count": ({"cells.csv": "state,sex,count\nN,f,\nN,m,2\n"}, (), "is missing"),
    "no rules": ({"rules.yaml": None}, (), "no such file"),
    "empty rules": ({"rules.yaml": ""}, (), "is empty"),
    "rules that are no YAML": ({"rules.yaml": "totals: [state"}, (), "no YAML"),
    "an unknown key": ({"rules.yaml": "sums: [state]"}, (), "unknown key"),
    "an unknown column": ({"rules.yaml": "totals: [stat]"}, (), "no column"),
    "all cells held": ({"rules.yaml": "totals: [[county, sex, age]]"}, (), "settle every cell"),
    "no stand-in": ({}, ("--stand-in", "none.csv"), "no such file"),
    "a stand-in of other cells": (
        {"other.csv": OTHER.to_csv(index=False)},
        ("--stand-in", "other.csv"),
        "'North, North 0, f, young' .* and 3 others",
    ),
    "a stand-in of more cells": (
        {"other.csv": MORE.to_csv(index=False)},
        ("--stand-in", "other.csv"),
        "'North, North 9, f, young' is not one of",
    ),
    "a stand-in without counts": (
        {"other.csv": places().drop(columns="count").to_csv(index=False)},
        ("--stand-in", "other.csv"),
        "no column 'count'",
    ),
    "a stand-in without a column": (
        {"other.csv": places().drop(columns="sex").to_csv(index=False)},
        ("--stand-in", "other.csv"),
        "'sex' is not one of",
    ),
    "epsilon of zero": ({}, ("--epsilon", "0"), "--epsilon: wanted numbers"),
    "a negative rho": ({}, ("--rho", "-1"), "--rho: wanted numbers"),
    "epsilon that is no number": ({}, ("--epsilon", "nan"), "--epsilon: wanted numbers"),
    "infinite rho": ({}, ("--rho", "inf"), "--rho: wanted numbers"),
    "epsilon beyond all": ({}, ("--epsilon", "1e99999999"), "--epsilon: wanted numbers"),
    "epsilon below all": ({}, ("--epsilon", "1e-300"), "from 1e-14 to 1000"),
    "an empty budget": ({}, ("--epsilon", "1,,2"), "got ''"),
    "a rate of one": ({}, ("--rate", "1"), "between 0 and 1"),
    "too many budgets": (
        {},
        ("--epsilon", ",".join(map(str, range(1, 30)))),
        "at most 20 values of epsilon",
    ),
    "few simulations": ({}, ("--simulations", "9"), "simulations must be from 10"),
    "simulations without end": ({}, ("--simulations", "99999999"), "simulations must be from 10"),
    "simulations in words": ({}, ("--simulations", "many"), "--simulations must be a whole"),
    "a negative seed": ({}, ("--seed", "-1"), "--seed must be a whole"),
    "a region that is none": ({}, ("--region", "nation"), "--region 'nation' is not one of"),
    "an area that is none": ({}, ("--area", "tract"), "--area 'tract' is not one of"),
    "one column for both": ({}, ("--region", "sex", "--area", "sex"), "name two columns"),
    "a name that is none": ({}, ("--name", "race"), "'race' is not one of"),
    "no sums": ({}, ("--sums", "none.yaml"), "no such file"),
    "sums of no column": (
        {"sums.yaml": "totals: [race]"},
        ("--sums", "sums.yaml"),
        "no column that describes",
    ),
    "a file in place of the folder": ({"out": "text"}, (), "this is a file"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(run, case, monkeypatch):
    contents, options, words = HOSTILE[case]
    monkeypatch.chdir(run.folder)
    for name, text in contents.items():
        if text is None:
            (run.folder / name).unlink()
        else:
            run.write(text, name)
    assert re.search(words, run.refused(*options))


@pytest.mark.parametrize(
    ("budgets", "words"),
    [
        ((), "give a budget: --epsilon, --rho, --rate"),
        (("--rate", "0.1"), "no system applies; permutation swapping: .*--stand-in"),
    ],
)
def test_nothing_to_compare_is_said(run, budgets, words):
    assert re.search(words, run.refused(budgets=budgets))


def test_nobody_in_a_stand_in_leaves_nothing_to_swap(run):
    run.table(places().assign(count=0), "stand_in.csv")
    options = ("--stand-in", str(run.folder / "stand_in.csv"), "--simulations", "10")
    assert run(*options, budgets=(*ONE, "--rate", "0.1")) == 0
    assert "left out: permutation swapping" in run.capsys.readouterr().out


def test_an_input_is_never_overwritten(run):
    (run.folder / "out").mkdir()
    table = run.folder / "cells.csv"
    table.rename(run.out / TABLE)
    table.symlink_to(run.out / TABLE)
    assert "would be overwritten" in run.refused("--force", budgets=ONE)


def test_names_that_differ_in_blanks_alone_are_said(run, caplog):
    cells = pd.read_csv(run.folder / "cells.csv")
    cells.loc[0, "state"] += " "
    run.table(cells)
    assert run(budgets=ONE) == 0
    assert "state: 'North' and 'North ' differ in blanks alone" in caplog.text
