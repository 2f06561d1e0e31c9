"""Each option of each command reaches its function and changes the outcome."""

import inspect
import os
import re
import shlex
import shutil

import pandas as pd
import pytest

from isdp import InputError
from isdp.cli import main
from isdp.cli.options import whole_number
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
PRIVATIZE = "privatize ages.csv --invariants ages.yaml --no-picture"
PLAN = "plan --cells ages.csv --invariants ages.yaml --no-picture"
COMPARE = "compare --cells cells.csv --invariants states.yaml --no-picture"
TOPDOWN = "topdown ages.csv --levels county --simulations 0"
NATION = "topdown last_census.csv --levels state,county --simulations 0"
SWAP = "swap people.csv --match state,size --swap county --carry tract"
CHECK = "check first/noisy.csv --invariants ages.yaml"
ACCOUNT = "account first/certificate.json second/certificate.json"
JOBS, RHO = "{}jobs.csv --invariants jobs.yaml --no-picture", " --rho 1"
E1, STAND_IN = " --epsilon 1", " --epsilon 1 --rate 0.1 --stand-in last_census.csv"
RELEASED = [f"{PRIVATIZE} --epsilon 1/4 --out first", f"{PRIVATIZE} --epsilon 1/3 --out second"]
MARGINS = "privatize both.csv --invariants both.yaml --no-picture --epsilon 1/4"
PICTURES = ("noisy.svg", "plan.svg", "comparison.svg")
GIVEN = " --cells first/noisy.csv --invariants ages.yaml"

COMPLETE = [PRIVATIZE + E1, PLAN + E1, COMPARE + E1, TOPDOWN + E1, SWAP + " --rate 0.5",
            CHECK + " --totals first/totals.csv", ACCOUNT]  # fmt: skip

# a command, what is added to it, and a text of the outcome with the addition and not without it
CASES = [
    (PRIVATIZE + E1, "--invariants total.yaml", '"grand total"'),
    (PRIVATIZE, "--epsilon 1/3", '"epsilon": "1/3"'),
    (PRIVATIZE + E1, "--per-unit", '"epsilon_per_person": "2"'),
    (PLAN + E1, "--per-unit", '"per": "unit"'),
    (PLAN + E1, "--totals first/totals.csv", "FILE plan/intervals.csv"),
    (PRIVATIZE, "--sigma 5/2", '"rho": "2/25"'),
    (PRIVATIZE, "--rho 1/9", '"rho": "1/9"'),
    (PRIVATIZE + " --rho 1", "--delta 1e-6", '"at_delta": "1e-06"'),
    (PRIVATIZE + E1 + " --for-experiments", "--norm l2", '"norm": "l2"'),
    (PRIVATIZE + E1, "--for-experiments", "PCG64, seeded by the operating system"),
    (PRIVATIZE + E1, "--seed 7", "PCG64, seed 7"),
    (MARGINS + " --for-experiments", "--allow-mcmc", "Markov chain (isdp.mcmc.metropolis)"),
    (PRIVATIZE + E1, "--count age", "column 'age'"),
    (PRIVATIZE + E1, "--name sex", "'f'"),
    (PRIVATIZE + E1, "--out other", "FILE other/noisy.csv"),
    (JOBS.format("privatize ") + RHO, "--hierarchy region=regions.csv", "region_1: ZZ1"),
    (JOBS.format("plan --cells ") + RHO, "--hierarchy region=regions.csv", "region_1: ZZ1"),
    (JOBS.format("compare --cells ") + RHO, "--hierarchy region=regions.csv", "status 0"),
    (
        "topdown jobs.csv --levels region_1,region --simulations 0" + RHO,
        "--hierarchy region=regions.csv",
        "region_1,ZZ1",
    ),
    (PRIVATIZE + E1, "--out-format parquet", "FILE noisy/noisy.parquet"),
    (PRIVATIZE.replace(" --no-picture", E1), "--no-picture", "no noisy.svg"),
    (PRIVATIZE + " --epsilon 25", "--accept weak-noise", "status 0"),
    (PLAN + E1, "--cells women.csv", "epsilon 1 per person: 8 cells"),
    (PLAN + E1, "--invariants total.yaml", '"degrees_of_freedom": 15'),
    (PLAN + E1, "--sums women.yaml", "subset women"),
    (PLAN, "--epsilon 1/4", '"epsilon": 0.25'),
    (PLAN, "--sigma 5/2", '"sigma": 2.5'),
    (PLAN, "--rho 4/25", '"sigma": 2.5'),
    (PLAN + " --rho 1", "--delta 2", "status 2"),
    (PLAN + E1 + " --for-experiments", "--norm l2", '"sd_is": "simulated"'),
    (PLAN + E1, "--for-experiments", "compositions"),
    (PLAN + E1, "--seed 7", "compositions"),
    (PLAN + E1, "--error cell=10", '"epsilon": 0.242'),
    (PLAN + " --error cell=10", "--error 'sex: f=10'", '"epsilon": 0.515'),
    (PLAN + E1, "--levels county,sex", '"share": 0.5'),
    (PLAN + " --rho 1 --levels county", "--groups sex", '"level": "county:sex"'),
    (PLAN + E1 + " --levels county,sex", "--share cell=0.9 --share sex=0.1", '"share": 0.9'),
    (PRIVATIZE + E1, "--levels county,sex", "FILE noisy/levels.csv"),
    (PRIVATIZE + " --rho 1 --levels county", "--groups sex", '"level": "county:sex"'),
    (PRIVATIZE + " --rho 1 --levels county", "--groups ''", '"groups": []'),
    (PRIVATIZE + E1 + " --levels county,sex", "--share cell=0.9 --share sex=0.1", '"share": 0.9'),
    (PRIVATIZE + E1 + " --levels county,sex", "--nonnegative", "FILE noisy/nonnegative.csv"),
    (PRIVATIZE + " --levels county,sex", "--error cell=5 --error sex=6", '"cell": "5"'),
    (PLAN + E1, "--count sex", "count: 31"),
    (PLAN + E1, "--name sex", "'f'"),
    (PLAN + E1, "--out other", "FILE other/plan.csv"),
    (PLAN.replace(" --no-picture", E1), "--no-picture", "no plan.svg"),
    (PLAN + " --epsilon 25", "--accept weak-noise", "status 0"),
    (COMPARE + E1, "--cells ages.csv --invariants ages.yaml", "16 cells"),
    (COMPARE + E1, "--invariants total.yaml", "grand total"),
    (COMPARE + E1, "--sums north.yaml", "subset north"),
    (COMPARE, "--epsilon 1/3,1", "systems and budgets compared"),
    (COMPARE, "--rho 1/8", "integer Gaussian noise,ISDP,rho,0.125"),
    (COMPARE + STAND_IN, "--rate 0.3", "permutation swapping,SWAP,rate,0.3"),
    (COMPARE + " --rate 0.1", "--stand-in last_census.csv", "status 0"),
    (COMPARE + STAND_IN, "--region sex", ""),
    (COMPARE + STAND_IN, "--area sex", ""),
    (COMPARE + STAND_IN, "--simulations 11", "11 runs each"),
    (COMPARE + STAND_IN, "--seed 1", ""),
    (COMPARE + " --rho 1", "--levels county,sex", "noise with levels"),
    (COMPARE + " --rho 1 --levels county", "--groups sex", ""),
    (COMPARE + " --rho 1 --levels county,sex", "--share cell=0.9 --share sex=0.1", ""),
    (COMPARE + E1, "--count sex", "status 2"),
    (COMPARE + E1, "--name sex", "'female'"),
    (COMPARE + E1, "--out other", "FILE other/comparison.csv"),
    (COMPARE.replace(" --no-picture", E1), "--no-picture", "no comparison.svg"),
    (TOPDOWN + E1, "--levels sex", "sex,f,North"),
    (TOPDOWN, "--epsilon 1/3", '"epsilon": "1/3"'),
    (TOPDOWN, "--rho 1/3", '"rho": "1/3"'),
    (TOPDOWN + E1, "--held county", '"total of each county"'),
    (NATION + E1 + " --held state", "--held state,county", '"total of each county"'),
    (TOPDOWN + E1, "--share all=1/4 --share county=3/4", '"loss": "3/4"'),
    (TOPDOWN + E1, "--query total=1/3 --query detail=2/3", "county,total,1,0.1666"),
    (
        TOPDOWN + E1 + " --query total=1/3 --query detail=2/3",
        "--query county:total=1/4 --query county:detail=3/4",
        "county,total,1,0.125",
    ),
    (TOPDOWN + E1, "--structural-zero sex=x", "'x'"),
    (TOPDOWN + E1, "--present present.csv", '"file": "present.csv"'),
    (TOPDOWN + E1 + " --present present.csv", "--absent-otherwise", "is absent"),
    (TOPDOWN + E1, "--one-pass", '"passes": "one"'),
    (TOPDOWN + E1, "--simulations 10", "margin_simulated"),
    (TOPDOWN + E1, "--for-experiments", "for experiments"),
    (TOPDOWN + E1, "--seed 7", "who has the seed"),
    (TOPDOWN + E1, "--count age", "column 'age'"),
    (TOPDOWN + E1, "--out other", "FILE other/released.csv"),
    (TOPDOWN + E1, "--out-format parquet", "FILE topdown/released.parquet"),
    (TOPDOWN + " --epsilon 1000", "--accept weak-noise", "status 0"),
    (SWAP + " --rate 0.5", "--match state", '"match": [\n      "state"\n    ]'),
    (SWAP + " --rate 0.5", "--swap county,tenure", '"tenure"\n    ],\n    "carry"'),
    (SWAP + " --rate 0.5", "--carry tract,tenure", '"tenure"\n    ],\n    "public"'),
    (SWAP.replace("people", "named") + " --rate 0.5", "--public name", "status 0"),
    (SWAP + " --rate 0.5", "--rate 1/20", '"1/20"'),
    (SWAP + " --rate 0.5", "--out other", "FILE other/swapped.csv"),
    (SWAP + " --rate 0.5", "--out-format parquet", "FILE swapped/swapped.parquet"),
    (CHECK + " --totals first/totals.csv", "--invariants total.yaml", "'county: North'"),
    (CHECK, "--totals first/totals.csv", "2 totals compared"),
    (CHECK, "--certificate second/certificate.json", "WRONG: sha256 of the noisy table"),
    (CHECK + " --totals first/totals.csv", "--count people", "column 'people'"),
    (CHECK + " --totals first/totals.csv", "--name sex", "'f'"),
    (ACCOUNT + " --invariants ages.yaml", "--cells first/noisy.csv", "determine 0 cells"),
    (ACCOUNT + " --cells first/noisy.csv", "--invariants ages.yaml", "determine 0 cells"),
    (ACCOUNT + GIVEN, "--count county", "status 2"),
    (ACCOUNT, "--as-zcdp", "rho per person is at most 0.0868"),
    (ACCOUNT + " --as-zcdp", "--delta 1e-3", "at delta = 0.001"),
    (ACCOUNT + GIVEN, "--name sex", "'f'"),
    *((command, "--json", '"exit_status": 0') for command in COMPLETE),
    *((command, "--quiet", "status 0\n\n") for command in COMPLETE),
]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The examples, a few more files, and two releases."""
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    ages = pd.read_csv(EXAMPLE / "ages.csv")
    ages[ages["sex"] == "f"].to_csv(folder / "women.csv", index=False)
    ages.query("county == 'North'")[["county", "sex"]].drop_duplicates().to_csv(
        folder / "present.csv", index=False
    )
    people = pd.read_csv(EXAMPLE / "people.csv")
    people.assign(name=[f"n{i}" for i in range(len(people))]).to_csv(
        folder / "named.csv", index=False
    )
    cells = [(row, column, 9 + (row * column) % 5) for row in range(10) for column in range(10)]
    both = pd.DataFrame(cells, columns=["row", "column", "count"])
    both.to_csv(folder / "both.csv", index=False)
    (folder / "both.yaml").write_text("totals: [row, column]")
    (folder / "total.yaml").write_text("total: true")
    (folder / "north.yaml").write_text("subsets: {north: {state: North}}")
    (folder / "women.yaml").write_text("subsets: {women: {sex: f}}")
    with pytest.MonkeyPatch.context() as moved:
        moved.chdir(folder)
        assert [main(shlex.split(each)) for each in RELEASED] == [0, 0]
    return folder


@pytest.fixture
def outcome(inputs, tmp_path, monkeypatch, capsys):
    """Run a command in a folder of its own; give all that it says and writes, but for the date."""

    def run(arguments):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        shutil.copytree(inputs, folder)
        before = set(folder.rglob("*"))
        monkeypatch.chdir(folder)
        capsys.readouterr()
        try:
            status = main(shlex.split(arguments))
        except SystemExit as ended:
            status = ended.code
        lines = [f"status {status}", *capsys.readouterr()]
        for path in sorted(set(folder.rglob("*")) - before):
            lines.append(f"FILE {path.relative_to(folder)}")
            if path.suffix in (".csv", ".json", ".md"):
                lines.append(path.read_text())
        lines += [f"no {name}" for name in PICTURES if not any(folder.rglob(name))]
        return re.sub(r"\d{4}-\d\d-\d\dT[0-9:+]*", "", "\n".join(lines))

    return run


@pytest.mark.parametrize(("command", "added", "text"), CASES)
def test_an_option_changes_the_outcome(outcome, command, added, text):
    without, given = outcome(command), outcome(f"{command} {added}")
    assert text in given
    if text:
        assert text not in without
    else:
        assert outcome(command) == without != given


def test_whole_numbers_have_as_many_digits_as_the_message_allows():
    assert whole_number("9" * 18, "--seed") == 10**18 - 1
    with pytest.raises(InputError, match="18 digits"):
        whole_number("1" * 19, "--seed")


@pytest.mark.parametrize("command", [PRIVATIZE + E1, PLAN + E1, COMPARE + E1, TOPDOWN + E1,
                                     SWAP + " --rate 0.5"])  # fmt: skip
def test_force_replaces_what_is_there(inputs, tmp_path, monkeypatch, capsys, command):
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(command)
    assert [main(arguments), main(arguments), main([*arguments, "--force"])] == [0, 2, 0]
    assert "--force" in capsys.readouterr().err


def test_every_option_that_the_help_lists_is_tried(capsys):
    def words(*arguments):
        with pytest.raises(SystemExit):
            main([*arguments, "--help"])
        return capsys.readouterr().out

    tried = {(command.split()[0], word) for command, added, _ in CASES for word in added.split()}
    (commands,) = re.findall(r"{([a-z,]+)}", words().partition("\n\n")[0])
    listed = {
        (command, option)
        for command in commands.split(",")
        for option in re.findall(r"--[a-z-]+", words(command).partition("\n\n")[0])
    }
    assert len(listed) > 70
    assert {each for each in listed if each[1] != "--force"} <= tried


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("plan --cells c.csv", "--invariants"),
        ("plan --invariants i.yaml", "--cells"),
        ("compare --cells c.csv", "--invariants"),
        ("compare --invariants i.yaml", "--cells"),
        ("privatize t.csv", "--invariants"),
        ("topdown t.csv --epsilon 1", "--levels"),
        ("topdown t.csv --levels state", "--epsilon"),
        ("swap r.csv --swap county", "--rate"),
        ("swap r.csv --rate 0.1", "--swap"),
        ("check n.csv", "--invariants"),
    ],
)
def test_a_missing_option_is_named(capsys, command, missing):
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == 2
    assert missing in capsys.readouterr().err.splitlines()[-1]


def test_an_interrupted_command_ends_as_shells_expect(tmp_path, monkeypatch, capsys):
    def interrupted(count, system=os.urandom):
        if inspect.currentframe().f_back.f_globals["__name__"].startswith("isdp."):
            raise KeyboardInterrupt
        return system(count)

    monkeypatch.chdir(EXAMPLE)
    monkeypatch.setattr("os.urandom", interrupted)
    assert main([*shlex.split(PRIVATIZE + E1), "--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
