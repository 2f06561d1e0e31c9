"""The demonstration data as the workflow meets them: a local file, a download, a wrong file."""

import csv
import json
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests import ROOT


def national_file(folder, vintage, column, damage=lambda rows: rows):
    """A made-up file for all counties, whose errors cancel in each state, zipped as NHGIS does."""
    with open(ROOT / "data/census2010_county_population.csv", encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    by_state = {}
    for row in published:
        by_state.setdefault(row["usps"], []).append(row)
    rows = []
    for counties in by_state.values():
        errors = [(-1) ** i * (i // 2 % 5) for i in range(len(counties) // 2 * 2)]
        for row, error in zip(counties, [*errors, 0], strict=False):
            fips, count = row["fips"], int(row["pop2010"])
            rows.append([f"G{fips[:2]}0{fips[2:]}0", row["name"], count + error, count])
    name = f"nhgis_ppdd_{vintage}_county"
    table = [["gisjoin", "name", f"{column}_dp", f"{column}_sf"], *damage(rows)]
    text = "".join(",".join(map(str, row)) + "\r\n" for row in table)
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.csv", text.encode("latin-1"))
    return folder / f"{name}.zip"


def read(checkout, name):
    with open(checkout.folder / "results" / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def served(tmp_path_factory):
    """A folder served on loopback, and its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    folder = tmp_path_factory.mktemp("served")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_local_file_of_the_old_kind_gives_errors_and_regressions(checkout):
    file = national_file(checkout.folder, "20200527", "H7V001")
    done = checkout.run(
        "--cores", "1", "results/tables/das_regressions.csv", NHGIS_PPDD_FILE=str(file)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    provenance = json.loads((checkout.folder / "results/data/provenance.json").read_text())
    assert provenance["source"] == "local file"
    assert provenance["vintage"] == "20200527"
    assert str(checkout.folder) not in json.dumps(provenance)
    counties = read(checkout, "data/counties.csv")
    assert len(counties) == 3221
    assert {row["das_error"] for row in counties} > {"-1", "0", "1"}
    (dona_ana,) = [row for row in counties if row["fips"] == "35013"]
    assert dona_ana["county"] == "Doña Ana County"
    regressions = read(checkout, "tables/das_regressions.csv")
    assert len(regressions) == 48
    assert all(row["slope"] for row in regressions)


def test_a_download_from_loopback_is_checked_and_kept(checkout, served):
    folder, address = served
    file = national_file(folder, "20201116", "H72001")
    checkout.write_ledger("20201116", f"{address}/{file.name}")
    done = checkout.run("--cores", "1", "results/data/counties.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    provenance = json.loads((checkout.folder / "results/data/provenance.json").read_text())
    assert provenance["source"] == "download"
    assert provenance["address"] == f"{address}/{file.name}"
    assert provenance["das_available"] is True


def fractional(rows):
    rows[7][2] = "12.5"
    return rows


def test_a_wrong_download_is_an_error_in_one_line_and_never_a_fallback(checkout, served):
    folder, address = served
    file = national_file(folder, "20201116", "H72001", damage=fractional)
    checkout.write_ledger("20201116", f"{address}/{file.name}")
    done = checkout.run("--cores", "1", "results/data/counties.csv")
    assert done.returncode != 0
    console = done.stdout + done.stderr
    told = [line for line in console.splitlines() if line.startswith("error: ")]
    assert len(told) == 1
    assert file.name in told[0]
    assert "Traceback" not in console
    assert not (checkout.folder / "results/data/counties.csv").exists()
