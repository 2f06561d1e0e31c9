"""Labels with line breaks are refused, so that a released csv has a row for each of the table."""

import pandas as pd
import pytest

from isdp import InputError
from isdp.cli import main
from isdp.commands.privatize.dataframe import privatize_frame

BREAKS = ["\r", "\n", "\r\n"]
COMMANDS = {
    "privatize": ["--invariants", "rules.yaml", "--epsilon", "0.5", "--no-picture"],
    "topdown": ["--levels", "county", "--rho", "1", "--simulations", "0"],
    "swap": ["--match", "county", "--swap", "age", "--rate", "0.5"],
}


def cells(label="old", name="age"):
    ages = ["young", label, "young", label, "middle", "middle"]
    return pd.DataFrame({"county": list("AABBAB"), name: ages, "count": [41, 5, 60, 7, 9, 80]})


def write(table, path):
    quoted = table.astype(str).map(lambda text: f'"{text}"')
    header = ",".join(f'"{name}"' for name in table.columns)
    rows = "\n".join(",".join(row) for row in quoted.to_numpy())
    path.write_bytes(f"{header}\n{rows}\n".encode())


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text("totals: [county]")

    def run(command, table):
        write(table, tmp_path / "table.csv")
        assert main([command, "table.csv", *COMMANDS[command], "--out", "out"]) == 2
        error = capsys.readouterr().err
        assert error.startswith("isdp: table.csv: ")
        assert error.count("\n") == 1
        assert not (tmp_path / "out").exists()
        return error

    return run


@pytest.mark.parametrize("end", BREAKS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_label_with_a_line_break_is_refused(refused, command, end):
    error = refused(command, cells(f"old{end}er"))
    assert "row 2" in error
    assert "'age'" in error


@pytest.mark.parametrize("end", BREAKS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_column_with_a_line_break_in_its_name_is_refused(refused, command, end):
    table = cells(name="age").assign(**{f"no{end}te": list("xyzxyz")})
    assert repr(f"no{end}te") in refused(command, table[["county", "age", f"no{end}te", "count"]])


@pytest.mark.parametrize("end", BREAKS)
def test_a_data_frame_with_a_line_break_is_refused(end):
    given = {"count": "count", "totals": ["county"], "epsilon": 0.5}
    with pytest.raises(InputError, match="row 2") as error:
        privatize_frame(cells(f"old{end}er"), **given)
    assert "'age'" in str(error.value)
    for name in ("age", "count"):
        table = cells().rename(columns={name: f"a{end}ge"})
        with pytest.raises(InputError) as error:
            privatize_frame(table, **(given | {"count": table.columns[2]}))
        assert repr(f"a{end}ge") in str(error.value)


@pytest.mark.parametrize("end", BREAKS)
def test_a_subset_with_a_line_break_in_its_name_is_refused(end):
    """Names of subsets are labels of totals.csv."""
    subsets = {f"both{end}ages": {"county": ["A", "B"]}, "one": {"county": "A"}}
    with pytest.raises(InputError, match="subsets"):
        privatize_frame(cells(), count="count", subsets=subsets, epsilon=0.5)


@pytest.mark.parametrize("other", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_other_separators_of_lines_do_not_end_a_row(tmp_path, monkeypatch, other):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text("totals: [county]")
    table = cells(f"old{other}er")
    write(table, tmp_path / "table.csv")
    assert main(["privatize", "table.csv", *COMMANDS["privatize"], "--out", "out"]) == 0
    assert pd.read_csv(tmp_path / "out/noisy.csv").age.tolist() == table.age.tolist()
