"""The scripts of the workflow, on a finished run: streams, inputs, settings, and orders of rows."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from matplotlib.figure import Figure

from isdp import Invariants
from isdp.io.draws import Draws
from reproduction.jobs.tables import read_csv
from tests.reproduction.replay import FORMATS, content
from tests.workflow.conftest import SMALL

STUDIES = (
    *("counties", "lattices", "congenial", "exactness", "subspace", "topdown", "swapping"),
    *("nested", "comparison"),
)
# streams that are taken more than once on purpose
COMMON = {
    ("topdown: held or not", "identity 4"): "the same noise with and without invariants",
    ("topdown cuts", "regions"): "the same regions at every budget",
    ("swapping", "computed"): "two halves of one stream",
}
KEYS = {"fips", "state", "name", "county", "rank", "cell", "run", "t", "step", "level", "census"}
# the output has the name of another input
APART = {("plot_subspace", "counties")}
# only words are read; the last lattice's runs are cut off, so that no curve has a value to follow
WORDS = {("plot_counties", "states"), ("describe_lattice", "curves")}
# of the rules that draw random numbers, those that read the tables of others and take a second
READING = {"sample_counties", "draw_exact_counties", "project_counties", "compare_exact_counties"}
# those that read measured values of others
MEASURED = {"compare_exact_counties", "project_counties", "describe_lattice"}
PRINTED = ("place_printed", "draws")  # what is printed has no names of cells
# those that read the values of cells in their order
IN_ORDER = {"compare_distances", "measure_independence", "compare_exact_sex_by_age"}


def quick(jobs, study, also=()):
    """The last job by name of each rule that draws no random numbers, or that is named."""
    ordered = sorted(jobs, key=lambda job: job.name)
    own = {job.given.rule: job for job in ordered if job.script.parent.name == study}
    return [job for rule, job in own.items() if "seed" not in job.params or rule in also]


def moved(only, name, made):
    """Move all numbers that are measured, or where there are none those that are counted."""
    if name != only:
        return None
    if isinstance(made, Draws):
        return replace(made, noise=made.noise[:, : made.noise.shape[1] // 2])
    values = made.select_dtypes("float").columns.difference(KEYS)
    if made[values].isna().all(axis=None):
        values = made.select_dtypes("number").columns.difference(KEYS)
        return made.assign(**{column: made[column] + 1 for column in values})
    return made.assign(**{column: 0.9 * made[column] for column in values})


def emptied(only, number, read, name, made):
    """No rows in the last of several tables."""
    if name == only:
        read.append(name)
    return made.iloc[:0] if name == only and len(read) == number else None


def differing(base, again):
    return {name for name in base if content(base[name]) != content(again[name])}


def outcome(base, run):
    """The outputs that a run changes; all of them where it cannot run."""
    try:
        return differing(base, run())
    except (Exception, SystemExit):
        return set(base)


def test_no_two_draws_are_from_one_stream(jobs):
    (seed,) = {job.params["seed"] for job in jobs if "seed" in job.params}
    # a stream may be split further, by numbers that are drawn from it
    taken = Counter(key for job in jobs for key in job.streams if key[0] == seed)
    assert len(taken) > 50
    assert {key for key, times in taken.items() if times > 1 and key[1:3] not in COMMON} == set()
    for job in jobs:
        assert "seed" in job.params or not job.streams, job.name
        assert not job.streams or job.streams[0][0] == seed, job.name


def test_what_is_made_for_a_state_or_a_law_is_of_that_state_or_law(jobs, finished):
    counties = read_csv(finished.folder / "results/data/counties.csv").set_index("state")["fips"]
    seen = set()
    for job in jobs:
        for name, files in job.outputs.items():
            for file in files if job.given.wildcards else ():
                path, wildcards = finished.folder / file, dict(job.given.wildcards.items())
                made = FORMATS[path.suffix][0](path) if path.suffix in FORMATS else None
                here = {*counties[[wildcards["state"]]]} if "state" in wildcards else None
                if isinstance(made, Draws):
                    labels = {
                        "unit" if key == "state" else key: wildcards[key] for key in wildcards
                    }
                    assert labels.items() <= made.settings.items(), file
                    own = {path.name.split("_")[0], name} & {"exact", "paper"} or {"mcmc"}
                    assert {made.settings["sampler"]} == own, file
                    assert here is None or {*made.cells} == here, file
                elif made is not None:
                    for key in wildcards.keys() & {*made}:
                        assert {*made[key]} == {wildcards[key]}, file
                    assert here is None or "fips" not in made or {*made["fips"]} == here, file
                seen |= set() if made is None else {(job.given.rule, name)}
    assert len(seen) > 15


@pytest.mark.parametrize(
    ("table", "keys", "number"),
    [
        ("comparison_errors", ["scope", "query", "size"], "answers"),
        ("topdown_bias", ["cell_class"], "cells"),
    ],
)
def test_all_systems_are_measured_on_the_same_cells(finished, table, keys, number):
    rows = read_csv(finished.folder / f"results/tables/{table}.csv")
    assert {system for system in rows["system"] if system.startswith("Bureau")}
    assert set(rows.groupby(keys)[number].nunique()) == {1}


def test_closed_forms_are_for_the_counties_of_the_run(finished):
    """A county's total has the noise of its cells, of which the state's total takes a share."""
    states = SMALL["nested"]["states"]
    counties = read_csv(finished.folder / "data/census2010_county_population.csv")["usps"]
    number = counties[counties.isin(states)].value_counts()
    rows = read_csv(finished.folder / "results/tables/nested_errors.csv")
    rows = rows[(rows["system"] == "integer Gaussian noise") & (rows["query"] == "county total")]
    free = 1 - len(number) / number.sum()
    assert np.allclose(rows["expected"], np.sqrt(252 / rows["budget"] * free))


@pytest.mark.parametrize("study", STUDIES)
def test_each_input_moves_the_outputs_of_its_name(jobs, replay, study):
    for job in quick(jobs, study, MEASURED):
        base = replay(job)
        found = {}
        for name, files in job.inputs.items():
            if files and all(file.endswith((".csv", ".nc")) for file in files):
                run = partial(replay, job, partial(moved, name))
                found[name] = outcome(base, run)
                if (job.given.rule, name) in WORDS:
                    continue
                assert found[name], f"{job.name}: nothing is made of {name}"
                own = {made for made in base if made == name or made.startswith(f"{name}_")}
                if (job.given.rule, name) not in APART:
                    assert own <= found[name], f"{job.name}: {name}"
                if len(files) > 1 and files[-1].endswith(".csv"):
                    run = partial(replay, job, partial(emptied, name, len(files), []))
                    assert outcome(base, run), f"{job.name}: the last table of {name} is not read"


@pytest.mark.parametrize("study", STUDIES)
def test_each_setting_moves_an_output(jobs, replay, study):
    for job in quick(jobs, study):
        base = replay(job)
        for name in job.params.keys() - {"sources", "cache", "stand_in"}:
            changed = job.params | {name: another(job.params[name])}
            assert outcome(base, partial(replay, job, params=changed)), (job.name, name)


def another(value):
    """Another value of a setting; of a block, with all of its numbers and words changed."""
    if isinstance(value, dict):
        return {key: another(each) for key, each in value.items()}
    if isinstance(value, list):
        return value[:-1]
    if isinstance(value, bool) or value is None:
        return not value
    return f"{value} or other" if isinstance(value, str) else value + 1


def shuffled(only, name, made):
    """The rows of a table, or the cells of draws, in another order."""
    if name != only:
        return None
    if not isinstance(made, Draws):
        return made.sample(frac=1, random_state=1)
    order = np.random.default_rng(1).permutation(len(made.cells))
    held = Invariants(made.invariants.sparse[:, order], made.invariants.names)
    return Draws(made.noise[..., order], held, [made.cells[i] for i in order], made.settings)


def as_set(made):
    """The rows of a table in an order of their own; draws as they are."""
    if isinstance(made, Draws):
        return content(made)
    numbers = made.select_dtypes("number")
    words = {name: numbers[name].astype(float).map("{:.9g}".format) for name in numbers}
    return made.astype(str).assign(**words).sort_values(list(made)).to_csv(index=False)


@pytest.mark.parametrize("study", STUDIES)
def test_the_order_of_rows_says_nothing(jobs, replay, study):
    for job in quick(jobs, study, READING):
        base = {name: each for name, each in replay(job).items() if not isinstance(each, Figure)}
        for name, files in job.inputs.items():
            known = all(file.endswith((".csv", ".nc")) for file in files)
            if base and files and known and (job.given.rule, name) != PRINTED:
                again = replay(job, partial(shuffled, name))
                for made, each in base.items():
                    assert as_set(again[made]) == as_set(each), (job.name, name, made)


def turned(only, name, made):
    """The numbers of a table in the opposite order, or draws without the last chain."""
    if name != only:
        return None
    if isinstance(made, Draws):
        return replace(made, noise=made.noise[:-1])
    numbers = made.select_dtypes("number").columns.difference(KEYS)
    return made.assign(**{column: made[column].to_numpy()[::-1] for column in numbers})


def test_values_of_cells_are_read_in_their_order_and_those_of_all_chains(jobs, replay):
    found = [job for job in jobs if job.given.rule in IN_ORDER]
    assert {job.given.rule for job in found} == IN_ORDER
    for job in found:
        base = replay(job)
        for name in job.inputs:
            assert outcome(base, partial(replay, job, partial(turned, name))), (job.name, name)
