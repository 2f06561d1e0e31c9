"""What several releases cost and give away together does not depend on their order."""

import json
import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from isdp import InputError
from isdp.accounting.conversions import epsilon_for
from isdp.cli import main
from isdp.commands.account import account
from tests import ROOT

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


# --- unlike losses, and the exact composition

LAPLACE, GAUSSIAN = ["--epsilon", "3/2"], ["--rho", "1/2"]
MARGINS = "totals: [a, b]"


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Release a table with noise of a budget, under totals."""
    made = {}

    def run(rules, *budget):
        if (rules, budget) not in made:
            folder = tmp_path_factory.mktemp("release")
            cells = [(a, b, 50 + (a + b) % 2) for a in range(2) for b in range(3)]
            table = "".join(f"{a},{b},{count}\n" for a, b, count in cells)
            (folder / "table.csv").write_text(f"a,b,count\n{table}")
            (folder / "rules.yaml").write_text(rules)
            given = ["privatize", folder / "table.csv", "--invariants", folder / "rules.yaml"]
            given += [*budget, "--no-picture", "--out", folder / "out"]
            assert main([*map(str, given)]) == 0
            made[rules, budget] = folder
        return made[rules, budget]

    return run


def accounted(folders, files=True, **options):
    if files:
        options |= {
            "cells_path": folders[0] / "out/noisy.csv",
            "invariants_paths": [each / "rules.yaml" for each in folders],
        }
    return account([each / "out/certificate.json" for each in folders], **options)


def losses(basis, power, rate, size=30):
    """Give the losses, and their probabilities, by a sum over the noise on a lattice."""
    basis = np.array(basis)
    noise = np.array(list(product(range(-size, size + 1), repeat=len(basis)))) @ basis
    one, other = (-rate * (abs(u) ** power).sum(axis=1) for u in (noise, noise - basis[0]))
    values, places = np.unique((one - other).round(9), return_inverse=True)
    return values, np.bincount(places, np.exp(one) / np.exp(one).sum())


def delta_together(every, epsilon):
    loss, probability = np.zeros(1), np.ones(1)
    for one, p in every:
        loss = np.add.outer(loss, one).ravel()
        probability = np.multiply.outer(probability, p).ravel()
    return float((probability * np.maximum(0, -np.expm1(epsilon - loss))).sum())


# bases of the noise of the cells between which one person moves
PAIR, THREE, WITHOUT_TOTAL = [[1, -1]], [[1, -1, 0], [0, 1, -1]], [[1, -1], [0, 1]]


@pytest.mark.parametrize(
    ("rules", "bases", "tight"),
    [
        ("totals: [a]", [THREE], 0.999),
        ("totals: [b]", [PAIR], 0.999),
        ("subsets: {s: {a: 0}}", [THREE, WITHOUT_TOTAL], 0.9),
    ],
)
@pytest.mark.parametrize("delta", ["0.03", "1e-3"])
def test_the_exact_composition_is_that_of_all_noise(release, rules, bases, tight, delta):
    folders = [release(rules, *one) for one in (LAPLACE, GAUSSIAN, ["--rho", "1/8"])]
    found = accounted(folders, as_zcdp=True, delta=delta)
    epsilon = found.exact.loss_per_person
    assert epsilon < found.converted.loss_per_person
    worst = max(
        delta_together([losses(basis, 1, 0.75), losses(basis, 2, 1 / 4), losses(basis, 2, 1 / 16)],
                       epsilon)
        for basis in bases
    )  # fmt: skip
    assert tight * float(delta) <= worst <= float(delta) * (1 + 1e-6)
    # without the totals, the bound is that of the worst totals
    assert epsilon <= accounted(folders, False, as_zcdp=True, delta=delta).exact.loss_per_person


@pytest.mark.parametrize("delta", [0.03, 1e-3])
def test_the_exact_composition_under_overlapping_totals_is_a_bound(release, delta):
    folders = [release(MARGINS, *one) for one in (LAPLACE, GAUSSIAN)]
    found = accounted(folders, as_zcdp=True, delta=delta)
    assert found.together.distance == 4
    assert "at the smallest distance that they force, 4" in found.exact.statement()
    assert found.guarantee.loss_per_person == Fraction(9, 8) + Fraction(1, 2)
    basis = [[1, -1, 0, -1, 1, 0], [0, 1, -1, 0, -1, 1]]
    every = [losses(basis, 1, 3 / 8), losses(basis, 2, 1 / 8)]
    worst = delta_together(every, found.exact.loss_per_person)
    assert 0.3 * delta < worst <= delta * (1 + 1e-6)


def test_pure_and_gaussian_losses_add_up_per_person_as_zcdp(release):
    folders = [release("totals: [a]", *one) for one in (LAPLACE, GAUSSIAN)]
    with pytest.raises(InputError, match="--as-zcdp"):
        accounted(folders)
    for files in (True, False):
        found = accounted(folders, files, as_zcdp=True, delta=1e-6)
        rho = Fraction(9, 8) + Fraction(1, 2)
        assert (found.guarantee.loss_per_person, found.guarantee.flavour) == (rho, "zCDP")
        wanted = epsilon_for("Canonne-Kamath-Steinke", float(rho), 1e-6)
        assert found.converted.loss_per_person == pytest.approx(wanted, rel=1e-9)


def test_losses_are_not_converted_where_the_distance_of_one_person_is_not_known(release):
    folders = [release("totals: [a]", *LAPLACE), release(MARGINS, *GAUSSIAN)]
    with pytest.raises(InputError, match=r"--as-zcdp.*--cells"):
        accounted(folders, False, as_zcdp=True)
    with pytest.raises(InputError, match="--cells"):  # the same distance under other totals
        accounted([folders[0], release("totals: [b]", *GAUSSIAN)], False, as_zcdp=True)
    found = accounted(folders, as_zcdp=True)
    # epsilon is 3/4 per unit of l1 distance, and rho is 1/8 per unit of squared l2 distance
    assert found.guarantee.loss_per_person == Fraction(9, 2) + Fraction(1, 2)


def test_many_pure_releases_cost_less_at_a_delta_than_their_sum(release, tmp_path):
    content = json.loads((release("totals: [a]", *LAPLACE) / "out/certificate.json").read_text())
    paths = [tmp_path / f"{i}.json" for i in range(30)]
    for i, path in enumerate(paths):
        path.write_text(json.dumps(content | {"date": str(i)}))
    found = account(paths, delta=0.01)
    assert found.guarantee.loss_per_person == 45
    # a sum of losses of randomized response has a binomial distribution
    n, epsilon, exact = 30, 1.5, found.exact.loss_per_person
    p = 1 / (1 + math.exp(-epsilon))
    delta = sum(
        math.comb(n, k)
        * p**k
        * (1 - p) ** (n - k)
        * max(0, -math.expm1(exact - (2 * k - n) * epsilon))
        for k in range(n + 1)
    )
    assert delta == pytest.approx(0.01, rel=1e-6)
    assert account(paths[:2]).exact is None  # the sum is as small


def test_losses_beyond_the_range_of_the_grid_have_no_exact_figure(release, tmp_path):
    folder = release("totals: [a]", *GAUSSIAN)
    content = json.loads((folder / "out/certificate.json").read_text())
    paths = [folder / "out/certificate.json", tmp_path / "bad.json"]
    for rho in ("1e-999", "1e+99"):
        content["mechanism"]["rho"] = rho
        paths[1].write_text(json.dumps(content))
        found = account(
            paths, cells_path=folder / "out/noisy.csv", invariants_paths=[folder / "rules.yaml"]
        )
        assert found.guarantee.loss_per_person >= Fraction(1, 2)
        assert found.exact is None


def test_there_is_no_exact_figure_if_the_loss_of_a_release_is_not_known(release):
    folders = [release("total: true", *GAUSSIAN)]
    folders.append(release("total: true", "--rho", "1", "--levels", "a"))
    found = accounted(folders)
    assert found.guarantee.loss_per_person == Fraction(3, 2)
    assert found.converted is not None
    assert found.exact is None


def test_losses_of_one_person_who_moves_alone_add_up_over_commands(tmp_path):
    """A release with levels and one of TopDown hold different totals, and have one unit."""
    example = ROOT / "docs/example"
    table = str(example / "last_census.csv")
    nested = ["privatize", table, "--invariants", str(example / "states.yaml"), "--no-picture"]
    topdown = ["topdown", table, "--held", "state", "--simulations", "0"]
    for name, command in (("a", nested), ("b", topdown)):
        options = ["--levels", "state,county", "--epsilon", "1/3", "--out", str(tmp_path / name)]
        assert main([*command, *options]) == 0
    found = account([tmp_path / name / "certificate.json" for name in "ab"])
    assert found.guarantee.loss_per_person == Fraction(2, 3)
    assert "changes cell alone" in found.guarantee.relation
