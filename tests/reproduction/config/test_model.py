"""The model of the configuration: wrong values are refused in one line, right ones are kept."""

import copy

import pytest

from reproduction.config.describe import format_table, insert_table, list_keys
from reproduction.config.from_the_papers import FromThePapers, list_replacements
from reproduction.config.model import check_config, read_config
from reproduction.jobs.settings import ConfigError
from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT
from tests.workflow.conftest import merged

CONFIG, SMOKE, SWEEP = (
    read_yaml(ROOT / "config" / name) for name in ("config.yaml", "smoke.yaml", "sweep.yaml")
)


def changed(*changes):
    """The project's config with some keys changed, as --configfile does it."""
    config = CONFIG
    for each in changes:
        config = merged(config, each)
    return copy.deepcopy(config)


def read(*changes):
    """The config that the rules read, and the one that is kept with the results."""
    config = changed(*changes)
    recorded = read_config(config, ROOT)
    return config, recorded


def leaves(node, path=()):
    for key, value in node.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield ".".join((*path, key)), value


def differing(one, other):
    """Dotted keys of the values that two configs do not share."""
    one, other = dict(leaves(one)), dict(leaves(other))
    return {key for key in one | other if one.get(key, "none") != other.get(key, "none")}


@pytest.fixture(autouse=True)
def no_file_from_outside(monkeypatch):
    monkeypatch.delenv("NHGIS_PPDD_FILE", raising=False)


@pytest.mark.parametrize("changes", [[], [SMOKE], [SWEEP], [SMOKE, SWEEP]])
def test_the_projects_configs_are_allowed_and_reach_the_rules_as_they_were_written(changes):
    config, recorded = read(*changes)
    written = dict(leaves(changed(*changes)))
    assert all(repr(value) == repr(written[key]) for key, value in leaves(config))
    blocks = {*CONFIG} - {"from_the_papers"}
    assert recorded == {key: value for key, value in changed(*changes).items() if key in blocks}


def test_smoke_holds_what_differs_and_nothing_else():
    usual = dict(leaves(CONFIG))
    for path, value in leaves(SMOKE):
        assert value is None or usual[path] != value, path


def test_every_key_has_a_meaning_and_every_number_a_source():
    meanings = {key: (meaning, source) for key, meaning, source in list_keys()}
    assert all(meaning.endswith(".") for meaning, _ in meanings.values())
    assert meanings["counties.epsilon"][1] == "paper"
    assert meanings["counties.norm"][1] == "inferred"
    assert meanings["lattices.experiments.NAME.laws.LAW.sigma"][1] == "ours"
    own = ("from_the_papers", "sweep", "lattices.experiments", "subspace.workloads", "seed", "data")
    sourced = {key for key, (_, source) in meanings.items() if source}
    numbers = {
        key
        for key, value in leaves(CONFIG)
        if not key.startswith(own) and isinstance(value, int | float | list)
    }
    assert numbers <= sourced


def test_the_readme_has_the_table_of_the_keys():
    text = (ROOT / "config/README.md").read_text()
    assert insert_table(text, format_table()) == text, "run `make keys`"


def test_null_leaves_out_an_experiment_or_a_law():
    config, recorded = read(
        {"lattices": {"experiments": {"small": None, "contingency": {"laws": {"l2": None}}}}}
    )
    experiments = config["lattices"]["experiments"]
    assert set(experiments) == {"intersecting", "contingency"}
    assert set(experiments["contingency"]["laws"]) == {"l1", "gaussian"}
    assert set(experiments["contingency"]["printed"]) == {"l1"}
    assert recorded["lattices"]["experiments"]["small"] is None
    with pytest.raises(ConfigError, match=r"lattices\.experiments: "):
        read({"lattices": {"experiments": dict.fromkeys(CONFIG["lattices"]["experiments"])}})


TABLE, RECORDS = "lattices.experiments.contingency", "lattices.experiments.intersecting"
MINE = {"records": 2, "constraints": {"A": [1]}}
LAW = {"sigma": 1, "proposal": {"paper": 0.5, "reduced": 0.5}}
# a key, its wrong value, and the key that the message names (None: the same)
WRONG = [
    ("national.states", ["DE", "XX"], "national.states.1"),
    ("national.batch.noise", 0, None),
    ("national.epsilons", [], None),
    ("national.cost.machines", [[1]], "national.cost.machines.0"),
    ("counties.epsilom", 1, "counties"),
    ("counties.epsilon", 0, None),
    ("counties.epsilon", float("nan"), None),
    ("counties.epsilon", "0.1", None),
    ("counties.norm", "l3", None),
    ("counties.states", ["IL", "ZZ"], "counties.states.1"),
    ("counties.states", ["IL", "IL"], None),
    ("counties.states", [], None),
    ("counties.chains", 1, None),
    ("counties.proposal", 1, None),
    ("counties", 3, None),
    ("counties.overdispersed.epsilon", 0.5, None),
    ("seed", -1, None),
    ("data.vintage", "20991231", None),
    ("data.vintage", 20201116, None),
    ("data.file", "nowhere.zip", "data.file (or NHGIS_PPDD_FILE)"),
    (f"{TABLE}.counts", [[1, 2], [3, 4]], TABLE),
    (f"{TABLE}.counts", [[-1] * 4] * 4, TABLE),
    (f"{TABLE}.counts", [[0.5] * 4] * 4, TABLE),
    (f"{TABLE}.held", [["county"], ["age"]], TABLE),
    (f"{RECORDS}.constraints.A", [1, 15], RECORDS),
    (f"{TABLE}.laws.l1.proposal.paper", 1.0, None),
    (f"{TABLE}.printed.l1", [[1, 2]], None),
    ("lattices.experiments.mine", MINE | {"laws": {"x": {}}}, "lattices.experiments.mine.laws.x"),
    ("lattices.coupling.lag_factors", [0, 1], "lattices.coupling.lag_factors.0"),
    ("lattices.noise.variant", "best", None),
    ("congenial.sex_by_age.counts.male", [1] * 22, "congenial.sex_by_age.counts"),
    ("congenial.sex_by_age.counts.female", [-1] * 23, "congenial.sex_by_age.counts"),
    ("congenial.sex_by_age.file", "p12.csv", "congenial.sex_by_age"),
    ("congenial.sex_by_age", {"file": "nowhere.csv", "county": "X"}, "congenial.sex_by_age.file"),
    ("congenial.sex_by_age.solved", [1, 2, 3], "congenial.sex_by_age.solved (cells from 0 here)"),
    ("congenial.sex_by_age.acceptance.paper", [1.0], None),
    ("congenial.two_bin.betas", [0, 1.5], "congenial.two_bin.betas.1"),
    ("counties.projection.simulations", 0, None),
    ("counties.truncation.epsilons", [0, 1], "counties.truncation.epsilons.0"),
    (
        "subspace.workloads.mine",
        {"query": "sums", "size": 3, "held": "total"},
        "subspace.workloads.mine.query",
    ),
    (
        "subspace.workloads.mine",
        {"query": "ranges", "size": 3, "held": "margins"},
        "subspace.workloads.mine.held",
    ),
    ("subspace.delta", 1, None),
    ("subspace.counties.state", "ZZ", "subspace.counties.state.0"),
    ("topdown.runs.identity 7", 1, "topdown.runs"),
    ("topdown.shown", "ZZ", "topdown.shown.0"),
    ("topdown.implied.states", ["ZZ"], "topdown.implied.states.0"),
    ("topdown.histogram", "nowhere.csv", None),
    ("swapping.rates", [0.5, 0.1], None),
    ("swapping.rates", [0.5, 1], "swapping.rates.1"),
    ("swapping.tables", [[[2, 2], [3, 2]]], "swapping.tables.0"),
    ("swapping.households", "nowhere.csv", None),
    ("data.ledger", "nowhere.csv", None),
    ("county", {}, "top level"),
    ("counties", {1: 2}, None),
    ("a\nb", 1, "top level"),
    ("counties.epsilon", float("inf"), None),
    ("counties.draws", True, None),
    ("counties.draws", 250.0, None),
    ("counties.states", "IL", None),
    ("counties.states", ["IL", "tx"], "counties.states.1"),
    ("counties.stand_in_states", ["ZZ"], "counties.stand_in_states.0"),
    ("counties", None, None),
    ("counties.draws", None, None),
    ("subspace", 3, None),
    ("topdown", [1], None),
    ("lattices.experiments", [], None),
    ("lattices.experiments.mine", 3, None),
    ("lattices.experiments.my own", MINE | {"laws": {"x": LAW}}, None),
    (f"{RECORDS}.axes.a", ["b"], RECORDS),
    (f"{TABLE}.laws.l1.sigma", 1, f"{TABLE}.laws.l1"),
    (f"{TABLE}.laws.l1.proposal.quick", 0.5, f"{TABLE}.laws.l1.proposal"),
    (f"{TABLE}.printed.l3", [[1]], None),
    (f"{TABLE}.axes.county", ["a", "a"], None),
    ("lattices.coupling.lag_factors", [2], None),
    ("topdown.runs.identity 4", None, "topdown.runs"),
    ("subspace.workloads.tree.size", 3, None),
    ("subspace.workloads.prefixes.size", [4, 4], None),
    ("subspace.workloads.ranges.kept", [[0]], None),
    ("subspace.workloads.twoway.kept", None, None),
    ("subspace.workloads.twoway.kept", [[0, 3]], None),
    ("subspace.equal_privacy.walk_steps", 30, None),
    ("national.rhos", [0.1, "x"], "national.rhos.1"),
    ("national.cost.machines", [[1, 0]], "national.cost.machines.0.1"),
    ("nested.states", ["DE", "XX"], "nested.states.1"),
    ("nested.rhos", [0.1], None),
    ("nested.runs.noise", 0, None),
    ("comparison.swapped", ["XX"], "comparison.swapped.0"),
    ("comparison.states", ["DE", "XX"], "comparison.states.1"),
    ("comparison", {"states": ["RI"], "swapped": ["DE"]}, "comparison.swapped.0"),
    ("comparison.rhos", [0.1], None),
    ("comparison.shown.epsilon", 2, None),
    ("comparison.shown.rate", 0.3, None),
    ("from_the_papers.counties.norm", "l3", None),
    ("from_the_papers.counties.norms", "l1", "from_the_papers.counties"),
    ("from_the_papers.counties.overdispersed_epsilon", 0.5, "counties.overdispersed.epsilon"),
]


@pytest.mark.parametrize(("key", "value", "named"), WRONG)
def test_a_wrong_value_is_refused_by_its_key_in_one_line(key, value, named):
    for part in reversed(key.split(".")):
        value = {part: value}
    with pytest.raises(ConfigError) as refused:
        read(value)
    message = str(refused.value)
    assert message.startswith(f"config: {named or key}: ")
    assert "\n" not in message


def test_a_missing_key_is_named():
    config = changed()
    del config["counties"]["norm"]
    with pytest.raises(ConfigError, match="config: counties: missing key norm"):
        check_config(config, ROOT)


def test_the_environment_variable_names_a_file_too(monkeypatch):
    monkeypatch.setenv("NHGIS_PPDD_FILE", "elsewhere.zip")
    with pytest.raises(ConfigError, match=r"data\.file.*elsewhere\.zip"):
        check_config(changed(), ROOT)


PRINTED_LAWS = {"epsilon": 0.5, "proposal_l1": 0.31, "proposal_l2": 0.32}
# a value for each entry that stands for a setting
PRINTED = {
    "intersecting": {
        **PRINTED_LAWS,
        "constraints": {"A": [1, 2], "B": [2, 3], "C": [3, 14]},
        "gaussian_sigma": 7,
    },
    "contingency": {**PRINTED_LAWS, "gaussian_sigma": 7.5},
    "counties": {
        "epsilon": 0.3,
        "norm": "l2",
        "states": ["IL", "VT"],
        "proposal": 0.41,
        "overdispersed_epsilon": 0.01,
        "overdispersed_iterations": 1234,
        "burn_in": 4321,
        "thin": 11,
    },
    "swapping": {"rates": [0.01, 0.25, 0.5], "sizes": [10, 1000]},
}
COMPARED = {
    "intersecting": {"lags_l1": [10], "lags_l2": [20], "iterations_l1": 100, "iterations_l2": 200},
    "contingency": {"lags_l1": [10], "lags_l2": [20], "iterations_l1": 100, "iterations_l2": 200},
    "counties": {"rhat": 1.5},
    "swapping": {"mape_medians": [1.0, 2.5]},
}
ENTRIES = [
    (part, key, value, part_of is PRINTED)
    for part_of in (PRINTED, COMPARED)
    for part, entries in part_of.items()
    for key, value in entries.items()
]


def test_the_config_lists_every_entry_from_the_papers_with_none_filled_in():
    parts = {name: field.annotation for name, field in FromThePapers.model_fields.items()}
    entries = {f"{part}.{key}" for part, model in parts.items() for key in model.model_fields}
    listed = dict(leaves(CONFIG["from_the_papers"]))
    assert set(listed) == entries == {f"{part}.{key}" for part, key, *_ in ENTRIES}
    assert set(listed.values()) == {None}


@pytest.mark.parametrize(("part", "key", "value", "replaces"), ENTRIES)
def test_a_value_from_a_paper_replaces_the_settings_it_stands_for_and_no_other(
    part, key, value, replaces
):
    entry = {"from_the_papers": {part: {key: value}}}
    usual, usually_recorded = read()
    config, recorded = read(entry)
    settings = dict(list_replacements({part: {key: value}}))
    assert bool(settings) == replaces
    moved = {each for each in differing(usual, config) if not each.startswith("from_the_papers.")}
    at = {each for each in moved if any(each == s or each.startswith(f"{s}.") for s in settings)}
    assert moved == at
    assert len(at) >= len(settings)
    assert recorded.pop("from_the_papers") == entry["from_the_papers"]
    assert differing(usually_recorded, recorded) == at
    # what is kept with the results is a config that gives the same settings again
    assert differing(read(recorded, entry)[0], config) == set()


def test_a_value_from_a_paper_leaves_out_what_is_left_out():
    config, _ = read(SMOKE, {"from_the_papers": {"intersecting": {"epsilon": 0.5}}})
    laws = config["lattices"]["experiments"]["intersecting"]["laws"]
    assert laws["l1"]["epsilon"] == 0.5
    assert "l2" not in laws
