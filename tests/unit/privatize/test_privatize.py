import hashlib
import json
import re
import runpy

import numpy as np
import pandas as pd
import pytest

import isdp
import isdp.privatize.draw as drawing_module
import isdp.privatize.run as module
from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.cli import main
from isdp.exact import release
from isdp.mcmc import metropolis
from isdp.privatize import Request
from isdp.privatize.held import Held
from isdp.privatize.run import FILES, PICTURES
from isdp.privatize.spread import Spread
from isdp.privatize.table import read_table
from tests import ROOT

EXAMPLE = ROOT / "docs/example"


def test_the_noisy_table_keeps_all_else(run):
    table = pd.read_csv(run.folder / "table.csv")
    assert run() == 0
    assert {path.name for path in run.out.iterdir()} == set(FILES) - set(PICTURES)
    noisy = run.noisy
    assert list(noisy) == list(table)
    assert noisy.drop(columns="count").equals(table.drop(columns="count"))
    assert not noisy["count"].equals(table["count"])
    for columns in (["county"], ["county", "sex"]):
        sums = [each.groupby(columns)["count"].sum() for each in (table, noisy)]
        assert sums[0].equals(sums[1])
    spoken = run.capsys.readouterr()
    assert "24 cells, 10 totals exact" in spoken.out
    assert "epsilon per person is at most 0.5" in spoken.out
    assert spoken.err == ""


def test_what_the_certificate_says(run):
    assert run("--count", "count") == 0
    content = run.certificate
    assert content["for_release"]
    assert content["invariants"] == [
        {"name": "grand total", "totals": 1, "largest_difference": 0},
        {"name": "totals by county", "totals": 3, "largest_difference": 0},
        {"name": "totals by county x sex", "totals": 6, "largest_difference": 0},
    ]
    assert content["lattice"] == {
        "degrees_of_freedom": 18,
        "cells_without_freedom": 0,
        "published_exactly": [],
    }
    law = content["mechanism"]
    assert (law["epsilon"], law["epsilon_decimal"]) == ("1/4", "0.25")
    assert (law["loss_at_distance_2"], law["loss_at_distance_4"]) == ("0.5", "1")
    assert law["statement"] == GeneralizedLaplace(0.25).guarantee.statement()
    assert content["sampler"]["error_bound"] == 0
    assert content["sampler"]["randomness"] == "the operating system (os.urandom)"
    assert content["output"]["negative_counts"] == int((run.noisy["count"] < 0).sum())
    assert content["input"]["published_as_they_are"] == ["county", "sex", "age"]
    digest = hashlib.sha256((run.out / "noisy.csv").read_bytes()).hexdigest()
    assert content["output"]["sha256"] == digest
    rules = hashlib.sha256((run.folder / "rules.yaml").read_bytes()).hexdigest()
    assert content["input"]["invariants_sha256"] == rules
    assert set(content["versions"]) == {"isdp", "numpy", "python-flint"}
    assert content["versions"]["isdp"] == isdp.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", content["date"])
    text = (run.out / "certificate.md").read_text()
    assert "NOT FOR RELEASE" not in text
    assert "| totals by county x sex | 6 | 0 |" in text
    assert str(run.folder) not in text + json.dumps(content)


@pytest.mark.parametrize("options", [(), ("--seed", "3")])
def test_nothing_published_depends_on_more_than_the_noisy_table(drawing, monkeypatch, options):
    """Two tables of equal totals that end as one noisy table end as the same files."""
    run = drawing
    first = pd.read_csv(run.folder / "table.csv")
    second = first.copy()
    second.loc[0, "count"] += 5
    second.loc[1, "count"] -= 5
    goal = first["count"] + np.tile([-70, 40, 20, 10], 6)
    wanted = None

    class Chosen:
        method, reason, error = "compositions", "why", 0.0

        def sample(self, rng, draws):
            return np.array([wanted])

    monkeypatch.setattr(drawing_module, "release", lambda *_, **__: np.array([wanted]))
    monkeypatch.setattr(drawing_module, "choose", lambda *_: Chosen())
    files = []
    for table in (first, second):
        table.to_csv(run.folder / "table.csv", index=False)
        wanted = (goal - table["count"]).to_numpy()
        assert run("--force", *options) == 0
        assert run.noisy["count"].tolist() == goal.tolist()
        assert run.certificate["output"]["negative_counts"] > 0
        texts = {name: (run.out / name).read_bytes() for name in FILES}
        date = run.certificate["date"].encode()
        files.append({name: text.replace(date, b"") for name, text in texts.items()})
    assert files[0] == files[1]


def test_without_a_seed_every_run_is_another(run):
    assert run() == 0
    first = run.noisy
    assert run("--force") == 0
    assert not run.noisy.equals(first)


def test_with_a_seed_runs_are_equal_and_not_for_release(run):
    files = []
    for _ in range(2):
        assert run("--seed", "7", "--force") == 0
        files.append((run.out / "noisy.csv").read_bytes())
    assert files[0] == files[1]
    content = run.certificate
    assert not content["for_release"]
    assert content["status"].startswith("NOT FOR RELEASE")
    assert content["sampler"]["method"] == "compositions"
    assert content["sampler"]["randomness"].endswith("seed 7")
    assert (run.out / "certificate.md").read_text().count("NOT FOR RELEASE") == 1


def test_other_norms_are_for_experiments_only(run):
    assert "l2 norm" in run.refused("--norm", "l2", epsilon="0.5")
    assert run("--norm", "l2", "--for-experiments", epsilon="0.5") == 0
    content = run.certificate
    assert content["status"].startswith("NOT FOR RELEASE")
    assert content["sampler"]["randomness"].endswith("seeded by the operating system")
    assert content["mechanism"]["epsilon"] == "1/2"


@pytest.mark.parametrize("options", [("--sigma", "3"), ("--rho", "1/18")])
def test_gaussian_noise_for_release(run, options):
    assert run(*options, "--delta", "1e-6", epsilon=None) == 0
    content = run.certificate
    assert content["for_release"]
    assert content["sampler"]["error_bound"] == 0
    law = content["mechanism"]
    assert (law["flavour"], law["rho"], law["epsilon"]) == ("zCDP", "1/18", None)
    assert law["rho_at_squared_distance_2"] == "0.111112"
    assert law["rho_at_squared_distance_4"] == "0.222223"
    # Canonne, Kamath and Steinke, Corollary 13, at many orders: each is a bound, the best is ours
    orders = 1 + np.geomspace(1e-1, 1e3, 100_001)
    slack = np.log(1e6) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    best = (orders / 9 + slack / (orders - 1)).min()
    assert best - 1e-6 < float(law["epsilon_per_person_at_delta"]) < best + 1e-4
    assert law["at_delta"] == "1e-06"
    text = (run.out / "certificate.md").read_text()
    assert "rho: 1/18 per unit of squared l2 distance" in text
    assert "conversion: Canonne-Kamath-Steinke" in text
    again = run.noisy
    assert run(*options, "--seed", "2", "--force", epsilon=None) == 0
    assert run.certificate["status"].startswith("NOT FOR RELEASE")
    assert not run.noisy.equals(again)


def test_the_example_of_the_documentation(drawing):
    run = drawing
    arguments = ["privatize", str(EXAMPLE / "table.csv"), "--epsilon", "1/4", "--out", str(run.out)]
    assert main([*arguments, "--invariants", str(EXAMPLE / "invariants.yaml")]) == 0
    change = run.noisy["count"] - pd.read_csv(EXAMPLE / "table.csv")["count"]
    cells = change.to_numpy().reshape(4, 4)
    assert not cells.sum(axis=0).any()
    assert not cells.sum(axis=1).any()
    assert {path.name for path in run.out.iterdir()} == set(FILES)
    assert run.certificate["output"]["picture"]
    assert run.certificate["lattice"]["degrees_of_freedom"] == 9
    assert "at a distance of 4" in (run.out / "certificate.md").read_text()


def test_a_long_table(drawing):
    run = drawing
    rng = np.random.default_rng(4)
    cells = np.arange(20_000)
    counts = rng.poisson(20, len(cells))
    table = pd.DataFrame({"count": counts, "county": cells % 100, "tract": cells})
    table.to_csv(run.folder / "table.csv", index=False)
    run.rules("total: true\ntotals: [county]\n")
    assert run() == 0
    noisy = run.noisy
    sums = [each.groupby("county")["count"].sum() for each in (table, noisy)]
    assert sums[0].equals(sums[1])
    assert noisy["tract"].equals(table["tract"])
    assert run.certificate["lattice"]["degrees_of_freedom"] == 19_900
    assert (run.out / "noisy.svg").stat().st_size < 400_000
    run.rules("totals: [county, tract]\n")
    assert "settle every cell" in run.refused("--force")


def test_cells_that_make_up_a_total_alone(run):
    run.table("county,sex,count\nA,f,4\nA,m,5\nB,f,123457\n")
    run.rules("totals: [county]")
    assert run("--accept", "missing-rows") == 0
    lattice = run.certificate["lattice"]
    assert lattice["cells_without_freedom"] == 1
    assert lattice["published_exactly"] == ["B, f"]
    assert "1 cell has no freedom" in run.capsys.readouterr().out
    assert run.noisy["count"][2] == 123457
    for name in ("certificate.json", "certificate.md"):
        assert "123457" not in (run.out / name).read_text()


def test_the_certificate_lists_ten_of_many_cells_without_freedom(run):
    cells = [f"{place},x,{count}" for place, count in zip("abcdefghijkl", range(12), strict=True)]
    run.table("\n".join(["place,sex,count", *cells, "m,x,3", "m,y,4"]))
    run.rules("totals: [place]")
    assert run() == 0
    lattice = run.certificate["lattice"]
    assert lattice["cells_without_freedom"] == 12
    assert lattice["published_exactly"] == [f"{place}, x" for place in "abcdefghij"]
    text = (run.out / "certificate.md").read_text()
    assert "12, which are **published exactly as they are**: a, x; b, x;" in text
    assert "j, x; ..." in text


def test_the_certificate_names_the_counts_whose_remainders_are_published(run):
    run.table("cell,count\na,4\nb,15\nc,6\nd,7\n")
    for rules, words in (
        ("total: true", "up to a multiple: 0"),
        ("subsets: {p: [a, b], q: [b, c], r: [c, a, d]}", "up to a multiple: 1, whose"),
    ):
        run.rules(rules)
        assert run("--force") == 0
        assert words in (run.out / "certificate.md").read_text()


def test_a_picture_has_bars_where_the_spread_of_the_noise_is_known(run, monkeypatch):
    given = []
    monkeypatch.setattr("isdp.privatize.picture.picture_of", lambda *each: given.append(each))
    table = read_table(run.folder / "table.csv")
    request = Request(GeneralizedLaplace(0.25))
    spread = Spread(np.arange(24.0), np.zeros(24))
    for known in (spread, None):
        module._draw_picture(table, table.counts, known, request)
    assert [each[2] for each in given] == [spread, None]


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_that_could_leave_the_integers_are_refused(sign):
    held = [Held("total", np.zeros(4, np.int64))]
    counts = np.array([1, 2, 3, 4])
    with pytest.raises(InputError, match="could leave 64-bit integers"):
        module.check_totals(held, counts, np.array([sign * 2**62, 0, 0, 10]))
    assert module.check_totals(held, counts, counts[::-1])[0]["largest_difference"] == 0
    with pytest.raises(InputError, match="total: a total is off by 3; not written"):
        module.check_totals(held, counts, np.array([1, 2, 3, 1]))


def test_outputs_are_not_replaced_unasked(run):
    assert run() == 0
    before = (run.out / "noisy.csv").read_bytes()
    assert "costs epsilon again" in run.refused()
    assert (run.out / "noisy.csv").read_bytes() == before


def test_inputs_are_never_replaced(run):
    run.out.mkdir()
    (run.folder / "table.csv").rename(run.out / "noisy.csv")
    (run.folder / "table.csv").symlink_to(run.out / "noisy.csv")
    assert "this input would be overwritten" in run.refused("--force")
    run.out = run.folder / "rules.yaml"
    assert "this is a file" in run.refused()


def test_a_link_to_nowhere_is_not_replaced_unasked(run):
    run.out.mkdir()
    (run.out / "noisy.csv").symlink_to(run.folder / "elsewhere.csv")
    assert "--force replaces it" in run.refused()
    assert run("--force") == 0
    assert not (run.out / "noisy.csv").is_symlink()
    assert not (run.folder / "elsewhere.csv").exists()


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_a_folder_in_the_place_of_a_file_is_refused(run, options):
    (run.out / "noisy.csv").mkdir(parents=True)
    assert "this is a folder; choose another --out" in run.refused(*options)


def test_a_new_release_takes_the_place_of_the_old_one_and_its_picture(drawing):
    assert drawing() == 0
    assert {path.name for path in drawing.out.iterdir()} == set(FILES)
    assert drawing("--force", "--no-picture") == 0
    assert {path.name for path in drawing.out.iterdir()} == set(FILES) - set(PICTURES)


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_a_folder_with_other_files_is_refused(run, options):
    run.out = run.folder
    assert "choose another --out" in run.refused(*options)


def test_nothing_is_left_where_writing_fails(run, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("isdp.io.certificate.markdown", fail)
    assert run() == 2
    assert "No space left" in run.capsys.readouterr().err
    assert not run.out.exists()


GOOD = "county,sex,count\nA,f,4\nA,m,5\nB,f,6\nB,m,7\n"


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.replace("county", '"county"').encode(),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace("A,f,4", '"A","f", 4 ').encode(),
    ],
)
def test_tables_as_other_programs_write_them(run, text):
    run.table(text, raw=True)
    run.rules("totals: [county]")
    assert run() == 0
    assert list(run.noisy) == ["county", "sex", "count"]
    assert run.noisy["county"].tolist() == list("AABB")


def test_codes_keep_their_zeros(run):
    run.table("fips,count\n01,4\n02,5\n003,0\n")
    run.rules("total: true")
    assert run() == 0
    lines = (run.out / "noisy.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["fips", "01", "02", "003"]


@pytest.mark.parametrize(
    ("table", "rules", "words"),
    [
        (GOOD.replace("5", "5.5"), "totals: [county]", "has a decimal point"),
        (GOOD, "totals: [town]", "'town' is no column"),
    ],
)
def test_what_is_wrong_with_an_input_is_told_in_one_line(run, table, rules, words):
    run.table(table)
    run.rules(rules)
    assert words in run.refused()


def test_missing_files(run):
    (run.folder / "rules.yaml").unlink()
    assert "rules.yaml: there is no such file" in run.refused()
    (run.folder / "table.csv").unlink()
    assert "table.csv: there is no such file" in run.refused()
    (run.folder / "table.csv").mkdir()
    run.rules("total: true")
    assert "cannot be read" in run.refused()


@pytest.mark.parametrize(
    ("options", "epsilon", "words"),
    [
        ((), "0", "epsilon must lie between"),
        ((), "-1", "epsilon must lie between"),
        ((), "much", "epsilon must be a number"),
        ((), None, "exactly one of epsilon, rho and sigma"),
        (("--sigma", "2"), "1", "exactly one of epsilon, rho and sigma"),
        (("--sigma", "wide"), None, "sigma must be a number"),
        (("--sigma", "-2"), None, "sigma must lie"),
        (("--rho", "0"), None, "rho must lie"),
        (("--rho", "1/0"), None, "rho must be a number"),
        (("--rho", "1e-400000000"), None, "rho must be a number"),
        (("--rho", "1", "--delta", "2"), None, "delta must be"),
        (("--delta", "1e-6"), "1", "delta goes with Gaussian noise"),
        (("--seed=--",), "1", "--seed: "),
        (("--delta=--",), "1", "--delta: "),
        (("--seed", "x"), "1", "--seed must be a whole number"),
        (("--seed", "1" * 5000), "1", "at most 100 digits, got '5000 characters'"),
        ((), "1e-30000000", "epsilon must be a number"),
        ((), "1e30000000", "epsilon must be a number"),
        (("--allow-mcmc",), "1", "--for-experiments"),
        (("--name", "town"), "1", "--name 'town' is not one of 'county', 'sex', 'age'"),
        (("--name", "sex"), "1", "rows 1 and 2 are both called 'f'"),
        (("--count", "people"), "1", "no column 'people'"),
    ],
)
def test_options_that_are_refused(run, options, epsilon, words):
    given = options if epsilon is None else (*options, f"--epsilon={epsilon}")
    assert words in run.refused(*given, epsilon=None)


def test_the_command_line_explains_itself(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["privatize", "--help"])
    assert stopped.value.code == 0
    assert "totals: [row, column]" in capsys.readouterr().out


def test_python_m_isdp_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["isdp", "privatize", "no.csv", "--invariants", "no.yaml"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("isdp", run_name="__main__")
    assert stopped.value.code == 2
    assert "exactly one of epsilon, rho and sigma" in capsys.readouterr().err


def test_a_release_that_no_exact_sampler_can_do_is_refused(run):
    cells = np.arange(1200)
    table = pd.DataFrame({"a": cells % 30, "b": cells // 30, "count": 5})
    table.to_csv(run.folder / "table.csv", index=False)
    run.rules("totals: [a, b]")
    error = run.refused()
    assert "--invariants: these totals overlap too much" in error
    assert "--sigma" not in error


def test_a_markov_chain_is_asked_for_and_gives_its_evidence(run, monkeypatch):
    chain = metropolis.sample

    def refuse(*_):
        raise InputError("exact: no perfect sampler is practical here")

    drawn = []

    def sample(*arguments, **settings):
        drawn.append(settings)
        return chain(*arguments, **settings)

    monkeypatch.setattr(drawing_module, "choose", refuse)
    monkeypatch.setattr("isdp.mcmc.metropolis.sample", sample)
    run.table((EXAMPLE / "table.csv").read_text())
    run.rules((EXAMPLE / "invariants.yaml").read_text())
    assert "--allow-mcmc draws by a Markov chain" in run.refused("--seed", "1")
    assert run("--seed", "1", "--allow-mcmc") == 0
    sampler = run.certificate["sampler"]
    assert sampler["error_bound"] is None
    assert "a convergence error of unknown size" in sampler["error_words"]
    assert 1 < sampler["evidence"]["worst_rhat"] <= drawing_module.LARGEST_RHAT  # or a refusal
    assert sampler["evidence"]["worst_rhat"] == round(sampler["evidence"]["worst_rhat"], 4)
    seen, released = drawn
    evidence = sampler["evidence"]
    assert evidence["chains"] == seen["chains"] == 4
    assert evidence["burn_in_sweeps"] == seen["burn_in"]
    assert evidence["kept_states_a_chain"] == seen["draws"]
    assert evidence["sweeps_between_kept_states"] == seen["thin"]
    sweeps = seen["burn_in"] + seen["draws"] * seen["thin"]
    assert evidence["sweeps_before_the_released_state"] == released["burn_in"] == sweeps
    text = (run.out / "certificate.md").read_text()
    assert "worst rhat" in text
    assert "NOT FOR RELEASE" in text
    monkeypatch.setattr(drawing_module, "LARGEST_RHAT", 0.9)
    assert "did not converge" in run.refused("--seed", "1", "--allow-mcmc", "--force")


def test_a_table_too_large_for_a_markov_chain(run):
    cells = np.arange(2100)
    table = pd.DataFrame({"a": cells % 30, "b": cells // 30, "count": 5})
    table.to_csv(run.folder / "table.csv", index=False)
    run.rules("totals: [a, b]")
    error = run.refused("--seed", "1", "--allow-mcmc")
    assert "too many for a Markov chain as well" in error


def test_the_sizes_that_the_documentation_names_are_those_that_are_drawn():
    words = " ".join((ROOT / "docs/privatize.md").read_text().split())
    (found,) = re.findall(
        r"small tables only: (\d+) x (\d+) at epsilon ([\d.]+), (\d+) x (\d+) from ([\d.]+) up",
        words,
    )
    rows, columns, epsilon, more_rows, more_columns, larger = found
    taken = Invariants.margins((int(rows), int(columns)))
    beyond = Invariants.margins((int(more_rows), int(more_columns)))
    source = np.random.default_rng(47).bytes  # of which few tries are made
    assert release(taken, epsilon, source=source).any()
    # at an epsilon so large most draws are 0: all of 6000 are once in 70,000 times
    assert any(release(beyond, larger, draws=300, source=source).any() for _ in range(20))
    with pytest.raises(InputError, match=r"may take .* tries"):
        release(beyond, epsilon)


def test_two_releases_with_other_totals_settle_cells_that_neither_certificate_lists(run):
    """What the certificate says of further releases is so, and it says it."""
    run.table("cell,count\na,41\nb,5\nc,60\nd,7\ne,9\n")
    settled = []
    for sets in ("p: [a, b], q: [d, e]", "r: [b, c], s: [c, a]"):
        run.rules(f"subsets: {{{sets}}}")
        assert run("--force") == 0
        settled.append(run.certificate["lattice"]["published_exactly"])
    run.rules("subsets: {p: [a, b], q: [d, e], r: [b, c], s: [c, a]}")
    assert run("--force") == 0
    settled.append(run.certificate["lattice"]["published_exactly"])
    assert settled == [[], [], ["a", "b", "c"]]
    text = (run.out / "certificate.md").read_text()
    assert "only for tables that agree in the totals of both releases" in text
    assert "settle cells that no single certificate lists" in text
