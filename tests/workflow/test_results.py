"""All tables and draws of the run are those of the last commit."""

from pathlib import Path

import pandas as pd

from isdp.io.draws import read_draws
from reproduction.jobs.tables import read_csv
from tests.recorded import check_recorded, digest, digests_of

KNOWN = Path(__file__).parent / "results.csv"
MEASURED = ("seconds", "longest", "job_memory")  # of the machine
LEFT_OUT = {"benchmarks", "papers", "logs"}


def test_tables_and_draws_are_those_that_are_recorded(finished, tmp_path):
    results, rows = finished.folder / "results", []
    for path in sorted(results.rglob("*.csv")):
        if path.parent.name not in LEFT_OUT and path.stem != "data_dictionary":
            found = digests_of(read_csv(path), MEASURED)
            rows.append((path.relative_to(results), " ".join(f"{c}={d}" for c, d in found)))
    for path in sorted(results.rglob("*.nc")):
        draws = read_draws(path)
        found = digest(draws.noise.ravel().tolist()), digest([draws.settings, *draws.cells])
        rows.append((path.relative_to(results), "noise={} settings={}".format(*found)))
    check_recorded(pd.DataFrame(rows, columns=["file", "columns"]), KNOWN, tmp_path)
