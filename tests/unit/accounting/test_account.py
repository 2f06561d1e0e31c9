"""What several releases cost and give away together does not depend on their order."""

import json
from fractions import Fraction
from itertools import permutations

import pytest

from isdp.cli import main
from isdp.commands.account import account

SETS = {"one": "p: [a], q: [b, c]", "two": "r: [c, d]", "three": "s: [d, b]"}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("account")
    table = folder / "table.csv"
    table.write_text("cell,count\na,41\nb,50\nc,60\nd,70\ne,90\nf,80\n")
    for name, sets in SETS.items():
        rules = folder / f"{name}.yaml"
        rules.write_text(f"subsets: {{{sets}}}")
        given = ["privatize", table, "--epsilon", "1/4", "--invariants", rules, "--no-picture"]
        assert main([*map(str, given), "--out", str(folder / name)]) == 0
    return folder


@pytest.mark.parametrize("order", [*permutations(SETS)])
def test_all_totals_count_together_and_what_one_settles_alone_is_not_new(releases, order):
    found = account(
        [releases / name / "certificate.json" for name in order],
        cells_path=releases / "one/noisy.csv",
        invariants_paths=[releases / f"{name}.yaml" for name in SETS],
    )
    assert found.guarantee.loss == Fraction(3, 8)
    assert found.together.determined == ["a", "b", "c", "d"]
    assert found.together.newly_determined == ["b", "c", "d"]
    assert found.together.revealed_residues == []
    # e and f are in no total, so that one person can change between them
    assert found.together.distance == 2
    assert found.guarantee.loss_per_person == Fraction(3, 4)


@pytest.mark.parametrize("order", [*permutations(["one", "two"])])
def test_cells_that_no_release_settles_are_not_settled(releases, order):
    found = account(
        [releases / name / "certificate.json" for name in order],
        cells_path=releases / "one/noisy.csv",
        invariants_paths=[releases / f"{name}.yaml" for name in order],
    )
    assert (found.together.determined, found.together.newly_determined) == (["a"], [])


def test_a_cell_in_no_total_does_not_shorten_the_distance_of_a_change_of_cell(tmp_path):
    """Both margins of a 2 x 2 table, and a further cell: no two cells are in the same totals."""
    (tmp_path / "table.csv").write_text("cell,count\na,41\nb,50\nc,60\nd,70\ne,90\n")
    rules = "subsets: {p: [a, b], q: [c, d], r: [a, c], s: [b, d]}"
    (tmp_path / "rules.yaml").write_text(rules)
    given = ["privatize", tmp_path / "table.csv", "--invariants", tmp_path / "rules.yaml"]
    for name, epsilon in (("one", "1/4"), ("two", "1/3")):
        options = ["--epsilon", epsilon, "--no-picture", "--out", tmp_path / name]
        assert main([*map(str, given + options)]) == 0
    found = account([tmp_path / name / "certificate.json" for name in ("one", "two")])
    assert found.guarantee.per_person == 4
    assert found.guarantee.loss_per_person == Fraction(7, 12)


def test_the_loss_of_gaussian_noise_grows_with_the_squared_distance(releases, tmp_path):
    rules = releases / "one.yaml"
    for name in ("first", "second"):
        given = ["privatize", releases / "table.csv", "--rho", "1/8", "--invariants", rules]
        assert main([*map(str, given), "--no-picture", "--out", str(tmp_path / name)]) == 0
    certificates = [tmp_path / name / "certificate.json" for name in ("first", "second")]
    found = account(certificates, cells_path=tmp_path / "first/noisy.csv", invariants_paths=[rules])
    assert found.together.distance == 2
    assert found.guarantee.loss_per_person == Fraction(1, 4)
    # a certificate that does not state that it is for release is an experiment's
    content = json.loads(certificates[1].read_text())
    del content["for_release"]
    certificates[1].write_text(json.dumps(content))
    assert account(certificates).experiments == [str(certificates[1])]
