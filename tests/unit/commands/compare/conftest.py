"""A made-up table of two states, with the command in a folder of its own."""

import numpy as np
import pandas as pd
import pytest

from isdp.cli import main

STATES = "totals: [state]\n"
BUDGETS = ("--epsilon", "1", "--rho", "0.5", "--rate", "0.1")


def places(seed=1):
    """Counts of counties in states, by sex and age; a third of the cells are empty."""
    rng = np.random.default_rng(seed)
    rows = [
        (state, f"{state} {county}", sex, age)
        for state, counties in (("North", 3), ("South", 2))
        for county in range(counties)
        for sex in "fm"
        for age in ("young", "old")
    ]
    table = pd.DataFrame(rows, columns=["state", "county", "sex", "age"])
    return table.assign(count=rng.poisson(rng.choice([0, 4, 40], len(rows))))


class Run:
    """The command in a folder of its own."""

    def __init__(self, folder, capsys):
        self.folder, self.capsys, self.out = folder, capsys, folder / "out"

    def table(self, table, name="cells.csv"):
        table.to_csv(self.folder / name, index=False)
        return str(self.folder / name)

    def write(self, text, name):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(self.folder / name)

    def __call__(self, *options, budgets=BUDGETS, picture=False):
        arguments = ["compare", "--cells", str(self.folder / "cells.csv")]
        arguments += ["--invariants", str(self.folder / "rules.yaml"), "--out", str(self.out)]
        arguments += ["--simulations", "10", *([] if picture else ["--no-picture"])]
        return main([*arguments, *budgets, *options])

    def refused(self, *options, **more):
        before = sorted(self.folder.rglob("*"))
        self.capsys.readouterr()
        assert self(*options, **more) == 2
        error = self.capsys.readouterr().err
        assert error.startswith("isdp: ")
        assert error.count("\n") == 1
        assert sorted(self.folder.rglob("*")) == before
        return error


@pytest.fixture
def run(tmp_path, capsys):
    """Cells without counts, the states' totals held, and a stand-in that nothing reads yet."""
    run = Run(tmp_path, capsys)
    run.table(places().drop(columns="count"))
    run.table(places(2), "stand_in.csv")
    run.write(STATES, "rules.yaml")
    return run
