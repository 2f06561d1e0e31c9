"""Tables and figures of a run, by the names in claims and pages."""

import pytest

from reproduction.review.shown import find_files, list_made_tables, list_shown, read_shown

FILES = [
    "results/figures/map_VT.svg",
    "results/figures/map_DC.svg",
    "results/figures/map_DC_exact.svg",
    "results/figures/README.md",
    "results/tables/fit.md",
    "results/tables/fit.html",
    "results/draws/fit.nc",
]


def test_tables_and_figures_are_known_by_their_names_whatever_their_endings(tmp_path):
    names = list_shown([*FILES, "src/isdp/plots/tables/x.py"])
    assert names == ["figures/map_DC", "figures/map_DC_exact", "figures/map_VT", "tables/fit"]
    (tmp_path / "shown.txt").write_text("\n".join(names))
    assert read_shown(tmp_path) == set(names)


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("figures", "map_{state}", ["map_VT", "map_DC"]),
        ("figures", "map_{state}_exact", ["map_DC_exact"]),
        ("figures", "map_IL", []),
        ("figures", "map_V.", []),
        ("tables", "fit", ["fit"]),
        ("tables", "map_VT", []),
    ],
)
def test_a_name_stands_for_the_files_that_the_run_makes(kind, name, found):
    assert find_files(kind, [name], FILES) == {name: found}


def test_tables_of_claims_are_those_that_targets_make():
    targets = [
        FILES[:3],
        ["results/tables/fit.html", lambda wildcards: [f"results/tables/{wildcards}.md"]],
    ]
    assert list_made_tables(["gone", "VT", "fit"], targets, "VT") == [
        "results/tables/VT.csv",
        "results/tables/fit.csv",
    ]
