"""Functions of tables give the same rows whatever the order of the rows that they are given."""

import importlib
import inspect
import sys
from functools import wraps

import pandas as pd

from tests import ROOT
from tests.reproduction.test_jobs import as_set

QUICK = {
    *("compute_subspace_errors", "attack_swapping", "compare_swapping_guarantees"),
    *("collect_comparison", "collect_counties", "collect_exact", "collect_lattices"),
    *("collect_nested", "collect_topdown", "describe_counties", "describe_lattice"),
    *("select_states", "place_printed", "scorecard", "compare_distances", "measure_independence"),
}
IN_ORDER = {
    "swapping.demonstrations.tabulate_perverse_guide": "a row is compared with the one before it",
    "swapping.tables.tabulate_guarantees": "it has this table",
    "swapping.tables.tabulate_attacks": "counties are simulated one after the other",
}


def turned(function, args, kwargs):
    """The results with the rows of one table at a time in the opposite order."""
    given = inspect.signature(function).bind(*args, **kwargs)
    for name, value in list(given.arguments.items()):
        if isinstance(value, pd.DataFrame):
            given.arguments[name] = value.iloc[::-1]
            yield function(*given.args, **given.kwargs)
            given.arguments[name] = value


def rows_of(made):
    """The rows of all tables of a result, or None if there is no table."""
    if isinstance(made, pd.DataFrame):
        return as_set(made)
    if isinstance(made, dict):
        return {name: rows_of(each) for name, each in made.items()}
    return [rows_of(each) for each in made] if isinstance(made, tuple) else None


def takes_tables(function):
    """Whether a function of a study takes tables and no source of random numbers."""
    if not inspect.isfunction(function) or not function.__module__.startswith("reproduction."):
        return False
    given = " ".join(str(a) for a in function.__annotations__.values())
    return "DataFrame" in given and "Generator" not in given


def test_the_order_of_rows_does_not_matter(jobs, replay, monkeypatch):
    tried, wrong = set(), set()

    def checked(function):
        name = f"{function.__module__}.{function.__name__}".removeprefix("reproduction.")

        @wraps(function)
        def call(*args, **kwargs):
            made = function(*args, **kwargs)
            if rows_of(made) is not None and name not in tried:
                tried.add(name)
                for again in turned(function, args, kwargs):
                    if rows_of(again) != rows_of(made):
                        wrong.add(name)
            return made

        return call

    for path in (ROOT / "src/reproduction").rglob("*.py"):
        names = path.relative_to(ROOT / "src").with_suffix("").parts
        importlib.import_module(".".join(names).removesuffix(".__init__"))
    for name, module in list(sys.modules.items()):
        for key, value in list(vars(module).items()) if name.startswith("reproduction.") else ():
            if takes_tables(value):
                monkeypatch.setattr(module, key, checked(value))
    for job in jobs:
        if job.given.rule in QUICK:
            replay(job)
    assert len(tried) > 40
    assert wrong == IN_ORDER.keys()
