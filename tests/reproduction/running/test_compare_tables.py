"""What moved between two runs is found row by row, whatever the order; what did not stays out."""

import pytest

from reproduction.running import compare_tables
from reproduction.running.compare_tables import compare, main, read, report

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


def table(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return read(path)


def test_equal_runs_are_one_line(runs):
    assert report(*runs) == "Nothing moved: 2 tables and figures' data are equal.\n"


def test_the_order_of_rows_and_rounding_are_no_change(runs):
    first, *rest = CURVES.splitlines()
    rows = [row.replace("0.25", "0.25000000001") for row in reversed(rest)]
    (runs[1] / "figures/curves.csv").write_text("\n".join([first, *rows]) + "\n")
    assert report(*runs).startswith("Nothing moved")


def test_a_flipped_verdict_comes_first(runs):
    text = SCORECARD.replace("first,1,reproduced", "first,3,differs")
    (runs[1] / "tables/scorecard.csv").write_text(text)
    (runs[1] / "figures/curves.csv").write_text(CURVES.replace("0.25", "0.5"))
    said = report(*runs)
    assert said.index("first: reproduced → **differs** (1 → 3)") < said.index("### Columns")
    assert "second" not in said
    assert "| tables/scorecard.csv | our_value | 1 | 1 → 3 | 2 | first |" in said
    assert "| figures/curves.csv | bound | 4 | 0.25 → 0.5 | 1 | l1, 1, 3 |" in said


def test_tables_new_and_gone_are_named(runs):
    (runs[1] / "tables/scorecard.csv").rename(runs[1] / "tables/verdicts.csv")
    said = report(*runs)
    assert "### New\n\n- tables/verdicts.csv" in said
    assert "### Gone\n\n- tables/scorecard.csv" in said
    assert "### Columns" not in said


def test_rows_and_columns_new_and_gone_are_counted(tmp_path):
    old = table(tmp_path, "state,mean,sd\nIL,1,2\nVT,3,4\nTX,5,6\n")
    new = table(tmp_path, "state,mean,n\nIL,1,2\nTX,5,4\n")
    moved = compare(old, new)
    assert moved.notes == ["columns new: n", "columns gone: sd", "1 row gone"]
    assert moved.columns == []
    assert compare(new, old).notes == ["columns new: sd", "columns gone: n", "1 row new"]


def test_the_largest_changes_are_told_absolute_and_relative(tmp_path):
    old = table(tmp_path, "cell,mean\na,100\nb,0.1\nc,0\n")
    new = table(tmp_path, "cell,mean\na,110\nb,0.3\nc,1\n")
    (found,) = compare(old, new).columns
    assert found == {
        "column": "mean",
        "rows": 3,
        "change": "100 → 110",
        "relative": "2",
        "where": "a",
    }


def test_a_number_that_comes_or_goes_is_a_change_and_two_blanks_are_not(tmp_path):
    old = table(tmp_path, "state,rhat\nIL,1.5\nDC,\n")
    new = table(tmp_path, "state,rhat\nIL,\nDC,\n")
    (found,) = compare(old, new).columns
    assert found["change"] == "1.5 → (blank)"
    assert found["rows"] == 1
    assert not compare(new, new)


def test_text_is_compared_and_cannot_break_the_list(tmp_path):
    old = table(tmp_path, "claim,note\na,x\nb,y\n")
    new = table(tmp_path, "claim,note\na,x\nb,p | q\n")
    (found,) = compare(old, new).columns
    assert (found["change"], found["where"]) == ("y → p \\| q", "b")


def test_rows_of_one_name_are_taken_in_order(tmp_path):
    old = table(tmp_path, "series,value\nq1,1\nextreme,8\nextreme,9\n")
    new = table(tmp_path, "series,value\nq1,1\nextreme,8\nextreme,11\nextreme,12\n")
    moved = compare(old, new)
    assert moved.notes == ["1 row new"]
    assert moved.columns[0]["where"] == "extreme (2)"


def test_a_long_list_is_cut_and_counted(runs, monkeypatch):
    monkeypatch.setattr(compare_tables, "LONGEST", 5)
    names = [f"c{i}" for i in range(5 + 7)]
    for run, value in zip(runs, "12", strict=True):
        text = ",".join(["row", *names]) + "\n" + ",".join(["a", *(value for _ in names)]) + "\n"
        (run / "tables/wide.csv").write_text(text)
    assert "and 7 more columns." in report(*runs)


def test_a_column_renamed_on_purpose_is_compared_under_its_new_name(runs, capsys):
    renamed = CURVES.replace("law,", "norm,", 1)
    (runs[0] / "figures/curves.csv").write_text(renamed)
    folders = [str(run) for run in runs]
    main(folders)
    assert "columns gone: norm" in capsys.readouterr().out
    main([*folders, "--renamed", "norm=law"])
    assert capsys.readouterr().out.startswith("Nothing moved")
    (runs[0] / "figures/curves.csv").write_text(renamed.replace("0.25", "0.5"))
    main([*folders, "--renamed", "norm=law"])
    assert "| figures/curves.csv | bound | 4 |" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*folders, "--renamed", "norm"])
    assert "wanted: old=new" in capsys.readouterr().err


def test_nothing_to_compare_with_is_said_and_nothing_to_compare_is_an_error(runs, tmp_path, capsys):
    main([str(tmp_path / "absent"), str(runs[1])])
    assert capsys.readouterr().out.startswith("Nothing to compare with")
    with pytest.raises(SystemExit, match="1"):
        main([str(runs[0]), str(tmp_path / "absent")])
    assert "there is no table" in capsys.readouterr().err
