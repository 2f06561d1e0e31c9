"""A table of people, and the command in a folder of its own."""

import json

import numpy as np
import pandas as pd
import pytest

from isdp.cli import main

NESTED = "total: true\ntotals: [county, [county, sex]]\n"


def people(path, counties=3, ages=4, seed=1):
    """Counts of counties by sex and age."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"county {c}", sex, f"{10 * a}-{10 * a + 9}")
        for c in range(counties)
        for sex in ("f", "m")
        for a in range(ages)
    ]
    table = pd.DataFrame(rows, columns=["county", "sex", "age"])
    table.insert(2, "count", rng.integers(0, 60, len(rows)))
    table.to_csv(path, index=False)
    return table


class Run:
    """The command in a folder of its own."""

    def __init__(self, folder, capsys, *always):
        self.folder, self.capsys, self.always = folder, capsys, always
        self.out = folder / "out"

    def table(self, text, raw=False):
        data = text if raw else text.encode()
        (self.folder / "table.csv").write_bytes(data)

    def rules(self, text):
        (self.folder / "rules.yaml").write_text(text)

    def __call__(self, *options, epsilon="0.25", per_unit=True):
        arguments = ["privatize", str(self.folder / "table.csv")]
        arguments += ["--invariants", str(self.folder / "rules.yaml"), "--out", str(self.out)]
        arguments += ["--epsilon", epsilon] if epsilon else []
        arguments += ["--per-unit"] * per_unit
        return main([*arguments, *self.always, *options])

    def refused(self, *options, **more):
        before = sorted(self.folder.rglob("*"))
        assert self(*options, **more) == 2
        error = self.capsys.readouterr().err
        assert error.startswith("isdp: ")
        assert error.count("\n") == 1
        assert sorted(self.folder.rglob("*")) == before
        return error

    @property
    def noisy(self):
        return pd.read_csv(self.out / "noisy.csv")

    @property
    def certificate(self):
        return json.loads((self.out / "certificate.json").read_text())


@pytest.fixture
def drawing(tmp_path, capsys):
    run = Run(tmp_path, capsys)
    people(tmp_path / "table.csv")
    run.rules(NESTED)
    return run


@pytest.fixture
def run(tmp_path, capsys):
    """Without the picture, which takes half of the time."""
    run = Run(tmp_path, capsys, "--no-picture")
    people(tmp_path / "table.csv")
    run.rules(NESTED)
    return run
