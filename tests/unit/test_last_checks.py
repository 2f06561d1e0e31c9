"""What is drawn is checked before anybody sees it: broken samplers and tables are refused."""

from contextlib import nullcontext
from fractions import Fraction
from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from isdp import (
    SYSTEM_RANDOMNESS,
    GeneralizedGaussian,
    GeneralizedLaplace,
    InputError,
    Invariants,
    draw_noise,
    topdown,
)
from isdp.commands.privatize.nonnegative import nonnegative_counts
from isdp.commands.privatize.run import check_totals, make_noisy_table, privatize_file
from isdp.commands.shared.invariants_file import HeldTotals
from isdp.commands.shared.noise import draw
from isdp.commands.shared.noise_levels import NoiseLevels
from isdp.commands.shared.request import NoiseRequest
from isdp.commands.shared.table import read_table
from isdp.commands.swap.records import Records, read_records
from isdp.commands.swap.run import compare, swap_file
from isdp.commands.topdown.run import TopDownOptions, arrange, check_release, plan_of
from isdp.commands.topdown.run import topdown as release_topdown
from isdp.exact.disjoint.bounded_laplace import BoundedCompositionSampler
from isdp.exact.sampler import RandomBitSampler
from isdp.io.output_folder import OutputFolder
from isdp.lattice import kernel_lattice
from isdp.mcmc import LatticeWalk, run_chains
from isdp.postprocess import nearest_l1
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
MARGINS = ([0, 1, 2], [3, 4, 5], [0, 3], [1, 4], [2, 5])


class Unmet(Invariants):
    """Invariants that the last of several draws does not meet."""

    off = 1

    def apply(self, values):
        found = super().apply(values)
        found[1:][-1:] += self.off
        return found


class UnmetFromBelow(Unmet):
    off = -1


class NeverMet(Invariants):
    def apply(self, values):
        return 1 + abs(super().apply(values))


@pytest.mark.parametrize(
    ("sets", "law", "lower"),
    [
        ([range(6)], GeneralizedLaplace(0.5), None),
        ([range(6)], GeneralizedLaplace(0.5), [-3] * 6),
        ([range(6)], GeneralizedGaussian(2.0), None),
        (MARGINS, GeneralizedLaplace(0.5), None),
        (MARGINS, GeneralizedGaussian(2.0), None),
        (MARGINS, GeneralizedLaplace(0.5, "l2"), None),
    ],
)
@pytest.mark.parametrize("unmet", [Unmet, UnmetFromBelow])
def test_noise_that_does_not_meet_the_invariants_is_not_given(sets, law, lower, unmet):
    invariants = unmet(Invariants.subsets(sets, 6).sparse)
    with pytest.raises(InputError, match="invariant"):
        draw_noise(law, invariants, n_draws=3, rng=np.random.default_rng(1), lower=lower)
    if lower is None and law.exact_energy is not None:
        with pytest.raises(InputError, match="invariant"):
            draw_noise(law, invariants, n_draws=3, rng=SYSTEM_RANDOMNESS)


def test_a_projection_that_does_not_meet_the_invariants_is_not_given():
    with pytest.raises(InputError, match="invariant"):
        nearest_l1([3, *[0] * 9, 1], NeverMet(Invariants.total(11).sparse), integer=True)


@pytest.mark.parametrize("draw", [0, -1])
def test_a_chain_that_breaks_an_invariant_is_refused(draw):
    class Broken(LatticeWalk):
        def run(self, *arguments, **options):
            kept, *others = super().run(*arguments, **options)
            self.runs += 1
            kept[draw, 0] += self.runs == 4  # the last chain
            return kept, *others

    walk = Broken(kernel_lattice(Invariants.total(4)), GeneralizedLaplace(0.5), 0.5)
    walk.runs = 0
    with pytest.raises(InputError, match="invariant"):
        run_chains(np.random.default_rng(1), walk, n_draws=3, burn_in=0)


def test_bounded_noise_that_does_not_meet_the_invariants_is_not_given():
    total = Invariants.total(6)
    for invariants, refused in ((total, False), (Unmet(total.sparse), True)):
        sampler = BoundedCompositionSampler(invariants, GeneralizedLaplace(0.5), [-3] * 6)
        with pytest.raises(InputError, match="invariant") if refused else nullcontext():
            assert sampler.sample(np.random.default_rng(1), 50).min() == -3


def test_a_sampler_that_breaks_an_invariant_is_refused():
    class Broken(RandomBitSampler):
        invariants = Invariants.total(4)

        def draw(self, words, draws):
            return np.array([[1, -1, 0, 0], [1, 0, 0, 0]])[:draws]

    assert len(Broken().sample(np.random.default_rng(1), 1)) == 1
    with pytest.raises(InputError, match="invariant"):
        Broken().sample(np.random.default_rng(1), 2)


@pytest.mark.parametrize(("place", "other"), [(0, 8), (1, 4), (2, 1)])
def test_a_noisy_table_with_another_total_is_not_made(place, other):
    """Noise that moves a person between two cells that differ in one column alone."""
    table = read_table(EXAMPLE / "ages.csv")
    held = [HeldTotals(name, table.groups([name])) for name in table.names]

    def broken(free, request):
        drawn = draw(free, request)
        drawn.noise[[0, other]] += [1, -1]
        return drawn

    given = held, ("rules", ""), NoiseRequest(epsilon=1, per="unit"), (), "now"
    assert len(make_noisy_table(table, *given).noisy) == len(table)
    with pytest.raises(InputError, match=table.names[place]):
        make_noisy_table(table, *given, sampler=broken)


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_that_could_leave_the_integers_are_refused(sign):
    held = [HeldTotals("total", np.zeros(4, np.int64))]
    counts = np.array([1, 2, 3, 4])
    assert check_totals(held, counts, counts[::-1])[0]["largest_difference"] == 0
    wrapped = [sign * 2**62 + extra for extra in (0, 0, 0, 10)]  # whose sum is 10 in 64 bits
    for noisy in (wrapped, [1, 2, 3, 4 + sign], [1, 2, 3, 4 - 3 * sign]):
        with pytest.raises(InputError):
            check_totals(held, counts, np.array(noisy))


LEVELS = ("state", "county")


def moved(tables, people, old, new):
    """Move people of the first region of each level to other cells; all levels still add up."""
    for table in tables.values():
        table[0, old] -= people
        table[0, new] += people


def below_zero(tables):
    people = tables["county"][0, 0] + 1
    tables["county"][:2, 0] += [-people, people]


def without_children(tables):
    moved(tables, tables["county"][0, [0, 3]].copy(), [0, 3], [1, 4])


def to_another_county(tables):
    tables["county"][:2, int(np.argmax(tables["county"][0]))] += [-1, 1]


def to_another_state(tables):
    for level in LEVELS:
        cell = int(np.argmax(tables["county"][0]))
        tables[level][[0, -1], cell] += [-1, 1]


def one_more(*levels):
    def change(tables):
        for level in levels:
            tables[level][-1, -1] += 1

    return change


@pytest.mark.parametrize(
    ("change", "held", "reason"),
    [
        (below_zero, (), "negative"),
        (one_more("all"), (), "add up"),
        (one_more("state"), (), "add up"),
        (one_more("county"), (), "add up"),
        (one_more("all", "state"), (), "add up"),
        (one_more("state", "county"), (), "add up"),
        (one_more("all", "state", "county"), (), "held total"),
        (to_another_state, LEVELS[:1], "held total"),
        (to_another_county, LEVELS, "held total"),
        (without_children, (), "known presence"),
    ],
)
def test_a_topdown_release_is_checked_before_it_is_written(tmp_path, change, held, reason):
    states = []

    def broken(rng, *arguments):
        states.append(rng.bit_generator.state)
        release = topdown.run(rng, *arguments)
        change(release.tables)
        return release

    table, present = EXAMPLE / "last_census.csv", tmp_path / "present.csv"
    present.write_text("county,age\nAsh,0-17\n")
    options = TopDownOptions(LEVELS, "pure", Fraction(1), held, present=present, simulations=0)
    release_topdown(table, options, tmp_path / "whole")
    for _ in range(2):
        with pytest.raises(InputError, match=reason):
            release_topdown(table, options, tmp_path / "out", algorithm=broken)
        assert not (tmp_path / "out").exists()
    assert states[0] != states[1]  # no seed is fixed


def test_each_change_of_a_topdown_release_is_refused_unless_it_is_valid(tmp_path):
    """No change, one person more, and moves of one person, at each level in every combination."""
    present = tmp_path / "present.csv"
    present.write_text("county,sex,age\nCedar,male,65 and over\n")
    options = TopDownOptions(LEVELS, "pure", Fraction(1), LEVELS[:1], present=present)
    problem = arrange(read_table(EXAMPLE / "last_census.csv"), LEVELS)
    plan, tree = plan_of(problem, options), problem.hierarchy
    true = dict(zip(tree.levels, tree.aggregate(problem.counts), strict=True))
    cells = [(0, 0), (0, 1), (-1, 0)]  # a region and a cell of it
    moves = [(), cells[:1], *permutations(cells, 2)]
    refused = 0
    for combination in product(moves, repeat=len(true)):
        tables = {level: table.copy() for level, table in true.items()}
        for table, move in zip(tables.values(), combination, strict=True):
            for change, place in zip((1, -1), move, strict=False):
                table[place] += change
        whole = tree.aggregate(tables["county"])
        valid = all((whole[i] == table).all() for i, table in enumerate(tables.values()))
        valid &= (whole[1].sum(axis=1) == true["state"].sum(axis=1)).all()
        valid &= (whole[2] >= 0).all()
        refused += not valid
        with nullcontext() if valid else pytest.raises(InputError):
            check_release(problem, plan, SimpleNamespace(tables=tables))
    assert 0 < refused < len(moves) ** len(true)


SWAP = {"match": ["state", "size"], "swap": ["county"], "carry": ["tract"], "rate": 0.5}


@pytest.mark.parametrize("stratum", ["same", "other"])
def test_what_is_no_permutation_within_strata_is_not_written(tmp_path, stratum):
    path = EXAMPLE / "people.csv"
    people = pd.read_csv(path)
    key = people["state"] + people["size"].astype(str)
    same = (key == key[0]) == (stratum == "same")
    (other, *_) = np.flatnonzero(same & (people["county"] != people["county"][0]))

    def broken(strata, rate):
        sources = np.arange(len(people))
        sources[0] = other
        if stratum == "other":
            sources[other] = 0  # a permutation of all, and not within the strata
        return sources

    with pytest.raises(InputError, match="total"):
        swap_file(path, tmp_path / "out", permute=broken, **SWAP)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("moved", [["county"], ["tract"], []])
def test_columns_that_do_not_move_together_are_not_written(tmp_path, monkeypatch, moved):
    """Carried values must go with the swapped ones."""

    def broken(records, columns, sources):
        return Records(records.columns | {n: records.columns[n].taken(sources) for n in moved})

    monkeypatch.setattr(Records, "taken", broken)
    path = EXAMPLE / "people.csv"
    with pytest.raises(InputError, match="total") if moved else nullcontext():
        swap_file(path, tmp_path / "out", **SWAP)
    assert not moved or list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("columns", [["county"], ["state", "county"], ["county", "tract"]])
def test_swapped_records_with_another_total_are_refused(columns):
    records = read_records(EXAMPLE / "people.csv")
    county = records.columns["county"].codes
    sources = np.arange(len(records))
    sources[0] = np.flatnonzero(county != county[0])[0]
    moved_records = records.taken(["county"], sources)
    assert compare(records, moved_records, ["state", "size"], "held")["largest_difference"] == 0
    with pytest.raises(InputError, match="off by 1"):
        compare(records, moved_records, columns, "totals")


def test_a_table_without_negative_counts_that_has_another_total_is_not_written(
    tmp_path, monkeypatch
):
    (tmp_path / "rules.yaml").write_text("total: true")
    given = EXAMPLE / "last_census.csv", tmp_path / "rules.yaml"
    request = NoiseRequest(rho=1, levels=NoiseLevels(LEVELS))
    privatize_file(*given, request, tmp_path / "whole", nonnegative=True, picture=False)

    def broken(*arguments):
        return nonnegative_counts(*arguments) + np.eye(1, 36, dtype=np.int64)[0]

    monkeypatch.setattr("isdp.commands.privatize.run.nonnegative_counts", broken)
    with pytest.raises(InputError, match="off by 1"):
        privatize_file(*given, request, tmp_path / "out", nonnegative=True)
    assert not (tmp_path / "out").exists()


NAMES = ("table.csv", "page.md")


@pytest.mark.parametrize(
    ("name", "force"), [("table.csv", False), ("page.md", False), ("mine", False), ("mine", True)]
)
def test_files_that_come_while_a_command_runs_stay(tmp_path, name, force):
    given, out = tmp_path / "given.csv", tmp_path / "out"
    given.write_text("a")
    folder = OutputFolder(out, NAMES, [given], force, "costs")
    out.mkdir()
    (out / name).write_text("another")
    with pytest.raises(InputError, match=str(out / name)):
        folder.write({"table.csv": {"a": np.arange(2)}}, lambda digests: {"page.md": "new"})
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [(name, "another")]


@pytest.mark.parametrize("name", NAMES)
def test_an_input_that_is_moved_into_the_folder_meanwhile_stays(tmp_path, name):
    given, out = tmp_path / "given.csv", tmp_path / "out"
    given.write_text("a")
    folder = OutputFolder(out, NAMES, [given], True, "costs")
    out.mkdir()

    def documents(digests):
        given.rename(out / name)
        given.symlink_to(out / name)
        return {"page.md": "new"}

    with pytest.raises(InputError, match="input"):
        folder.write({"table.csv": {"a": np.arange(2)}}, documents)
    assert (out / name).read_text() == "a"


def test_a_file_that_comes_while_the_files_are_written_stays(tmp_path):
    out = tmp_path / "out"

    def documents(digests):
        out.mkdir()
        (out / "page.md").write_text("another")
        return {"page.md": "new"}

    with pytest.raises(InputError, match="--force"):
        OutputFolder(out, NAMES, [], False, "costs").write({}, documents)
    assert (out / "page.md").read_text() == "another"
