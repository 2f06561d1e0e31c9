"""Differences between the tables of two runs: found row by row, in any order of the rows."""

import shutil

import pytest

from reproduction.jobs.compare_tables import main, report

SCORECARD = "claim,our_value,verdict\nfirst,1,reproduced\nsecond,5,differs\n"
CURVES = "law,lag,t,bound\n" + "".join(
    f"{law},{lag},{t},{1 / (t + lag)}\n" for law in ("l1", "l2") for lag in (1, 2) for t in range(5)
)


@pytest.fixture
def runs(tmp_path):
    """Two equal runs; a test changes the second."""
    for run in ("old", "new"):
        for name, text in {"tables/scorecard": SCORECARD, "figures/curves": CURVES}.items():
            path = tmp_path / run / f"{name}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return tmp_path / "old", tmp_path / "new"


@pytest.fixture
def changed(tmp_path):
    """Report the difference between two versions of one table."""

    def changed(old, new):
        for run, text in (("a", old), ("b", new)):
            (tmp_path / run / "tables").mkdir(parents=True, exist_ok=True)
            (tmp_path / run / "tables/t.csv").write_text(text)
        return report(tmp_path / "a", tmp_path / "b")

    return changed


def cells(said):
    """Cells of the Markdown table in a report."""
    rows = [line.strip("|").split(" | ") for line in said.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows]


def test_the_order_of_rows_and_rounding_are_no_change(runs):
    first, *rest = CURVES.splitlines()
    rows = [row.replace("0.25", "0.25000000001") for row in reversed(rest)]
    (runs[1] / "figures/curves.csv").write_text("\n".join([first, *rows]) + "\n")
    assert report(*runs).startswith("All ")


def test_a_flipped_verdict_comes_first(runs):
    text = SCORECARD.replace("first,1,reproduced", "first,3,differs")
    (runs[1] / "tables/scorecard.csv").write_text(text)
    (runs[1] / "figures/curves.csv").write_text(CURVES.replace("0.25", "0.5"))
    said = report(*runs)
    assert said.index("first: reproduced → **differs**") < said.index("### Columns")
    assert "second" not in said
    assert ["tables/scorecard.csv", "our_value", "1", "1 → 3", "2", "first"] in cells(said)
    assert ["figures/curves.csv", "bound", "4", "0.25 → 0.5", "1", "l1, 1, 3"] in cells(said)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("code,n\na,1\n", "code,n\na,1.0\n"),
        ("code,n\na,1\nb,\n", "code,n\nb,\na,1\n"),
        ("n,n2\n1,2\n1,3\n1,3\n", "n,n2\n1,3\n1,2\n1,3\n"),
        ("state,flag\nIL,True\nVT,False\n", "state,flag\nVT,False\nIL,True\n"),
    ],
)
def test_equal_tables_in_another_order_or_type_are_equal(changed, old, new):
    assert changed(old, new).startswith("All 1 tables")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("fips,n\n01001,1\n", "fips,n\n1001,1\n"),
        ("code,n\na,1\n", "code,n\na,1.00001\n"),
        ("code,n\na,1\n", "code,n\na,\n"),
        ("code,n\na,inf\n", "code,n\na,1\n"),
        ("code,n\na,1\na,2\n", "code,n\na,1\n"),
        ("code,n\na,1\na,2\n", "code,n\na,1\na,1\n"),
        ("code\na\n", "code\nb\n"),
        ("code,flag\na,True\n", "code,flag\na,False\n"),
        ("code,n\na,1\n", "code,n\n"),
    ],
)
def test_unequal_tables_are_not_called_equal(changed, old, new):
    assert changed(old, new).startswith("1 of 1 ")
    assert changed(new, old).startswith("1 of 1 ")


def test_rows_and_columns_new_and_gone_are_counted(changed):
    old, new = "state,mean,sd\nIL,1,2\nVT,3,4\nTX,5,6\n", "state,mean,n\nIL,1,2\nTX,5,4\n"
    said = changed(old, new)
    for note in ("columns new: n", "columns gone: sd", "1 row gone"):
        assert f"- tables/t.csv: {note}\n" in said
    assert "### Columns" not in said
    assert "1 row new" in changed(new, old)


def test_rows_with_the_same_key_are_compared_in_their_order(changed):
    old = "series,value\nq1,1\nextreme,8\nextreme,9\n"
    said = changed(old, "series,value\nq1,1\nextreme,8\nextreme,11\nextreme,12\n")
    assert "1 row new" in said
    assert cells(said)[-1][-1] == "extreme (2)"


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ("our_value,our_error", "our_value"),
        ("rate,error", "rate"),
        ("mean,sd,mean_se", "mean"),
        ("error,error_se", "error"),
    ],
)
def test_differences_are_given_in_combined_standard_errors(changed, columns, column):
    rest = ",7" * (columns.count(",") - 1)
    old, new = (
        f"claim,{columns}\na,1{rest},3\nb,{value}{rest},4\n"
        for value, rest in ((2, rest), (22, rest))
    )
    said = changed(old, new.replace(",3\n", ",4\n"))
    # 20 / sqrt(4^2 + 4^2)
    assert f"standard errors\n\n- tables/t.csv: 3.54 ({column}, b)\n" in said


def test_nothing_to_compare_with_is_said_and_nothing_to_compare_is_an_error(runs, tmp_path, capsys):
    main([str(tmp_path / "absent"), str(runs[1])])
    assert capsys.readouterr().out.startswith(str(tmp_path / "absent"))
    shutil.rmtree(runs[1])
    with pytest.raises(SystemExit, match="1"):
        main([str(run) for run in runs])
    assert str(runs[1]) in capsys.readouterr().err
