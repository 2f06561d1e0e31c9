import csv
import hashlib
import io
import json
import socket
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jsonschema
import pandas as pd
import pooch
import pytest
import yaml

from isdp import InputError
from reproduction.data.fetch import obtain, read_ledger
from tests import ROOT

SCHEMA = ROOT / "workflow/schemas/sources.schema.yaml"
LEDGER_COLUMNS = yaml.safe_load(SCHEMA.read_text())["required"]

PUBLISHED = pd.DataFrame(
    {
        "fips": ["17031", "17043"],
        "state": ["IL", "IL"],
        "county": ["Cook County", "DuPage County"],
        "population": [5194675, 916924],
    }
)
NAME = "nhgis_ppdd_20210608_county"
TABLE = """\
gisjoin,name,state,H72001_dp,H72001_sf
G1700310,Cook County,17,5194670,5194675
G1700430,DuPage County,17,916929,916924
"""


def packed(table=TABLE, name=f"{NAME}.csv"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), table)
    return buffer.getvalue()


GOOD = packed()


class Site:
    """A web site on the loopback interface: path -> (status, content) or "hang up" or "wait"."""

    def __init__(self):
        self.pages = {}
        self.requests = []
        self.closing = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.requests.append(self.path)
                page = site.pages.get(self.path, (404, b"<html>not found</html>"))
                if page == "wait":
                    site.closing.wait(5)
                    return
                if page == "hang up":
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(GOOD)))
                    self.end_headers()
                    self.wfile.write(GOOD[:50])
                    return
                status, content = page
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.open = True

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def close(self):
        if self.open:
            self.open = False
            self.closing.set()
            self.server.shutdown()
            self.server.server_close()
            self.thread.join()


@pytest.fixture(autouse=True)
def _loopback_without_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def naps(monkeypatch):
    taken = []
    monkeypatch.setattr(time, "sleep", taken.append)
    return taken


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.fixture
def refused_url():
    # bound but not listening: connections are refused, and nobody else can take the port
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/{NAME}.zip"


def entry(url, **changes):
    row = {
        "dataset": "demonstration data",
        "vintage": "20210608",
        "file": f"{NAME}.zip",
        "url": url,
        "sha256": "",
        "population_column": "H72001",
        "address_known_from": "test",
        "note": "",
    }
    return row | changes


def ledger_of(*rows):
    return pd.DataFrame(rows, columns=LEDGER_COLUMNS, dtype="str")


def get(tmp_path, *rows, local_file=None, vintage="20210608", **options):
    options = {"retries": 0, "timeout": (2.0, 2.0)} | options
    return obtain(
        vintage=vintage,
        local_file=local_file,
        ledger=ledger_of(*rows),
        cache=tmp_path / "cache",
        published=PUBLISHED,
        **options,
    )


def cached(tmp_path):
    return sorted(p.name for p in (tmp_path / "cache").glob("*"))


def refused(call, *words):
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


# -- downloads ------------------------------------------------------------------------------------


def test_a_download_with_its_provenance(tmp_path, site):
    site.pages["/a.zip"] = (200, GOOD)
    demonstration, provenance = get(tmp_path, entry(site.url("/a.zip")))
    assert demonstration.counties["dp"].tolist() == [5194670, 916929]
    assert provenance.as_dict() == {
        "source": "download",
        "file_name": "a.zip",
        "address": site.url("/a.zip"),
        "sha256": pooch.file_hash(str(tmp_path / "cache" / cached(tmp_path)[0])),
        "vintage": "20210608",
        "population_column": "H72001",
        "das_available": True,
        "message": f"NHGIS demonstration data of vintage 20210608, downloaded from "
        f"{site.url('/a.zip')}.",
    }
    assert json.loads(json.dumps(provenance.as_dict())) == provenance.as_dict()
    assert cached(tmp_path)[0].endswith("-a.zip")


def test_a_good_download_is_used_again_without_the_network(tmp_path, site):
    site.pages["/a.zip"] = (200, GOOD)
    first = get(tmp_path, entry(site.url("/a.zip")))[1]
    site.close()
    demonstration, second = get(tmp_path, entry(site.url("/a.zip")))
    assert second == first
    assert demonstration.counties["sf"].tolist() == [5194675, 916924]
    assert site.requests == ["/a.zip"]


def test_the_hash_of_the_ledger_is_checked(tmp_path, site, naps):
    site.pages["/a.zip"] = (200, GOOD)
    good = get(tmp_path, entry(site.url("/a.zip")))[1].sha256
    (tmp_path / "cache" / cached(tmp_path)[0]).unlink()
    assert get(tmp_path, entry(site.url("/a.zip"), sha256=good))[1].sha256 == good
    (tmp_path / "cache" / cached(tmp_path)[0]).unlink()
    wrong = entry(site.url("/a.zip"), sha256="0" * 64)
    refused(lambda: get(tmp_path, wrong, retries=2), site.url("/a.zip"), "sha256", "0" * 64)
    assert cached(tmp_path) == []
    assert len(site.requests) == 5  # the wrong one is asked for again, twice


def test_a_cached_file_that_no_longer_fits_the_ledger_is_downloaded_anew(tmp_path, site):
    site.pages["/a.zip"] = (200, packed(TABLE.replace("DuPage", "Du Page")))
    get(tmp_path, entry(site.url("/a.zip")))
    site.pages["/a.zip"] = (200, GOOD)
    good = entry(site.url("/a.zip"), sha256=hashlib.sha256(GOOD).hexdigest())
    demonstration, _ = get(tmp_path, good)
    assert demonstration.counties["county"][1] == "DuPage County"


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"<!DOCTYPE html><title>Sign in</title>", "web page, not data"),
        (GOOD[:-30], "damaged or cut short"),
        (GOOD[:60], "damaged or cut short"),
        (b"", "empty"),
        (packed(TABLE.replace("H72001_sf", "x")), "H72001_sf"),
        (packed(TABLE.replace("5194670", "5194671")), "state IL"),
        (packed(TABLE.replace("916924", "916925")), "DuPage County (17043)"),
        (packed(TABLE[: TABLE.index("G1700430")]), "1 of 2 counties are missing"),
        (packed(name="nhgis_ppdd_20201116_county.csv"), "vintage 20201116"),
    ],
)
def test_a_wrong_download_is_an_error_and_is_not_kept(tmp_path, site, content, word):
    site.pages["/a.zip"] = (200, content)
    site.pages["/b.zip"] = (200, GOOD)
    rows = entry(site.url("/a.zip")), entry(site.url("/b.zip"))
    refused(lambda: get(tmp_path, *rows), site.url("/a.zip"), "removed from the cache", word)
    assert cached(tmp_path) == []
    assert "/b.zip" not in site.requests
    site.pages["/a.zip"] = (200, GOOD)
    assert get(tmp_path, *rows)[1].address == site.url("/a.zip")


def test_a_population_column_that_is_not_the_one_on_record(tmp_path, site):
    site.pages["/a.zip"] = (200, packed(TABLE.replace("H72001", "H7V001"), "county.csv"))
    refused(lambda: get(tmp_path, entry(site.url("/a.zip"))), "H7V001", "ledger says H72001")
    assert cached(tmp_path) == []


def test_a_download_that_does_not_tell_its_vintage_stays_unknown(tmp_path, site):
    site.pages["/latest.zip"] = (200, packed(name="county.csv"))
    _, provenance = get(tmp_path, entry(site.url("/latest.zip")))
    assert provenance.vintage == "unknown"
    assert "unknown vintage" in provenance.message


# -- no file to be had ----------------------------------------------------------------------------


def test_without_any_answer_the_published_counts_stand_alone(tmp_path, refused_url):
    demonstration, provenance = get(tmp_path, entry(refused_url))
    assert demonstration is None
    assert provenance.source == "published counts"
    assert not provenance.das_available
    for field in ("file_name", "address", "sha256", "vintage", "population_column"):
        assert getattr(provenance, field) == ""
    assert "20210608" in provenance.message
    assert "127.0.0.1 could not be reached" in provenance.message
    assert "0x" not in provenance.message
    assert cached(tmp_path) == []


@pytest.mark.parametrize(("status", "attempts"), [(404, 3), (403, 3), (503, 3), (429, 3)])
def test_http_errors_are_no_answer(tmp_path, site, naps, status, attempts):
    site.pages["/a.zip"] = (status, b"<html>no</html>")
    demonstration, provenance = get(tmp_path, entry(site.url("/a.zip")), retries=2)
    assert demonstration is None
    assert f"127.0.0.1 answered HTTP {status}" in provenance.message
    assert site.requests == ["/a.zip"] * attempts
    assert naps == [1, 2][: attempts - 1]
    assert cached(tmp_path) == []


def test_a_server_that_is_silent_is_left_in_time(tmp_path, site):
    site.pages["/a.zip"] = "wait"
    began = time.perf_counter()
    demonstration, provenance = get(tmp_path, entry(site.url("/a.zip")), timeout=(2.0, 0.1))
    assert time.perf_counter() - began < 2
    assert demonstration is None
    assert "did not answer in time" in provenance.message


def test_a_connection_that_breaks_off_is_tried_again(tmp_path, site, naps):
    site.pages["/a.zip"] = "hang up"
    demonstration, _ = get(tmp_path, entry(site.url("/a.zip")), retries=1)
    assert demonstration is None
    assert len(site.requests) == 2
    assert cached(tmp_path) == []


def test_the_next_address_is_tried(tmp_path, site, refused_url):
    site.pages["/mirror/a.zip"] = (200, GOOD)
    rows = entry(refused_url), entry(site.url("/a.zip")), entry(site.url("/mirror/a.zip"))
    _, provenance = get(tmp_path, *rows)
    assert provenance.address == site.url("/mirror/a.zip")
    assert site.requests == ["/a.zip", "/mirror/a.zip"]
    # from the cache, though an earlier address would answer now, and has a file of the same name
    site.pages["/a.zip"] = (200, GOOD)
    assert get(tmp_path, *rows)[1] == provenance
    assert len(site.requests) == 2


def test_only_addresses_of_the_vintage_are_tried(tmp_path, site):
    site.pages["/a.zip"] = (200, GOOD)
    rows = entry(site.url("/b.zip"), vintage="20201116"), entry(site.url("/a.zip"))
    assert get(tmp_path, *rows)[1].vintage == "20210608"
    assert site.requests == ["/a.zip"]
    demonstration, provenance = get(tmp_path, *rows, vintage="20201116")
    assert demonstration is None
    assert "vintage 20201116 could not be had" in provenance.message
    refused(lambda: get(tmp_path, *rows, vintage="20200527"), "20200527", "20201116 20210608")


def test_a_cache_that_cannot_be_written(tmp_path, site):
    site.pages["/a.zip"] = (200, GOOD)
    (tmp_path / "cache").write_text("a file, not a folder")
    refused(lambda: get(tmp_path, entry(site.url("/a.zip"))), "cache", "cannot be kept")


def test_pooch_says_nothing_but_is_not_silenced_for_others(tmp_path, site, caplog):
    site.pages["/a.zip"] = (200, GOOD)
    logger = pooch.get_logger()
    logger.addHandler(caplog.handler)
    try:
        logger.info("before")
        get(tmp_path, entry(site.url("/a.zip")))
        logger.info("after")
        assert caplog.messages == ["before", "after"]
    finally:
        logger.removeHandler(caplog.handler)


# -- a local file ---------------------------------------------------------------------------------


def test_a_local_file_comes_first(tmp_path, site):
    local = tmp_path / "mine.zip"
    local.write_bytes(GOOD)
    demonstration, provenance = get(tmp_path, entry(site.url("/a.zip")), local_file=local)
    assert site.requests == []
    assert demonstration.file_name == "mine.zip"
    assert (provenance.source, provenance.file_name, provenance.address) == (
        "local file",
        "mine.zip",
        "",
    )
    assert provenance.sha256 == pooch.file_hash(str(local))
    assert provenance.das_available
    assert provenance.message == (
        "NHGIS demonstration data of vintage 20210608 from the local file mine.zip."
    )
    assert str(tmp_path) not in json.dumps(provenance.as_dict())


def test_a_local_file_goes_by_its_own_vintage(tmp_path):
    local = tmp_path / "mine.zip"
    local.write_bytes(GOOD)
    # nor need the ledger know the vintage asked for
    demonstration, provenance = get(tmp_path, local_file=str(local), vintage="20201116")
    assert demonstration.vintage == provenance.vintage == "20210608"
    assert "20210608" in provenance.message
    assert "20201116" in provenance.message
    local.write_text(TABLE)
    _, provenance = get(tmp_path, local_file=local, vintage="20201116")
    assert provenance.vintage == "unknown"
    assert "unknown vintage" in provenance.message


def test_a_local_file_that_is_missing_or_wrong_is_never_replaced(tmp_path, site):
    site.pages["/a.zip"] = (200, GOOD)
    row = entry(site.url("/a.zip"))
    local = tmp_path / "mine.zip"
    refused(lambda: get(tmp_path, row, local_file=local), "mine.zip", "no such file")
    for content, word in (
        (b"<html>", "web page"),
        (GOOD[:-30], "cut short"),
        (packed(TABLE.replace("5194670", "5194671")), "state IL"),
    ):
        local.write_bytes(content)
        refused(lambda: get(tmp_path, row, local_file=local), "mine.zip", word)
        assert local.read_bytes() == content
    assert site.requests == []


# -- the ledger -----------------------------------------------------------------------------------


def write_ledger(path, *rows, columns=LEDGER_COLUMNS):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([row[column] for column in columns if column in row] for row in rows)
    return path


def test_the_ledger_of_the_repository_fits_its_schema():
    ledger = read_ledger(ROOT / "data" / "sources.csv", SCHEMA)
    vintages = ["20191029", "20200527", "20200917", "20201116", "20210608"]
    assert ledger["vintage"].tolist() == vintages
    assert ledger["population_column"].tolist() == ["H7V001"] * 2 + ["H72001"] * 3
    for vintage, url in zip(vintages, ledger["url"], strict=True):
        folder = f"https://assets.nhgis.org/differential-privacy/v{vintage}"
        assert url == f"{folder}/nhgis_ppdd_{vintage}_county.zip"
    schema = yaml.safe_load(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for row in ledger.to_dict("records"):
        validator.validate(row)
        assert not validator.is_valid(row | {"more": ""})
        assert not validator.is_valid({k: v for k, v in row.items() if k != "url"})


def test_a_ledger_comes_as_text_with_hashes_in_small_letters(tmp_path):
    path = write_ledger(
        tmp_path / "l.csv", entry("http://x.org/a.zip", sha256="AB" * 32), entry("https://x.org/b")
    )
    ledger = read_ledger(path, SCHEMA)
    assert ledger.columns.tolist() == LEDGER_COLUMNS
    assert ledger["sha256"].tolist() == ["ab" * 32, ""]
    assert ledger["vintage"].tolist() == ["20210608", "20210608"]


WRONG = [
    ({"vintage": "2021-06-08"}, "vintage"),
    ({"url": "ftp://x.org/a.zip"}, "url"),
    ({"url": "file:///etc/passwd"}, "url"),
    ({"url": "https:///a.zip"}, "url"),
    ({"url": "https://x.org/"}, "url"),
    ({"url": "https://x.org:port/a.zip"}, "url"),
    ({"url": "https://me:secret@x.org/a.zip"}, "url"),
    ({"url": ""}, "url"),
    ({"sha256": "ab"}, "sha256"),
    ({"sha256": "g" * 64}, "sha256"),
    ({"file": "../a.zip"}, "file"),
    ({"population_column": "H7X001"}, "population_column"),
    ({"population_column": "H7V001"}, "population_column"),
    ({"dataset": ""}, "dataset"),
    ({"address_known_from": ""}, "address_known_from"),
]


@pytest.mark.parametrize(("changes", "word"), WRONG)
def test_a_wrong_row_of_the_ledger_is_named(tmp_path, changes, word):
    path = write_ledger(
        tmp_path / "l.csv", entry("https://x.org/a.zip"), entry("https://x.org/b.zip") | changes
    )
    refused(lambda: read_ledger(path, SCHEMA), "l.csv", "line 3", f"{word}:")


def test_an_address_stands_in_the_ledger_once(tmp_path):
    path = write_ledger(tmp_path / "l.csv", *[entry("https://x.org/a.zip")] * 2)
    refused(lambda: read_ledger(path, SCHEMA), "line 3", "https://x.org/a.zip", "line 2")


def test_the_columns_of_the_ledger(tmp_path):
    row = entry("https://x.org/a.zip", more="")
    fewer = write_ledger(tmp_path / "l.csv", row, columns=LEDGER_COLUMNS[:-1])
    refused(lambda: read_ledger(fewer, SCHEMA), "line 1", "columns", "note")
    more = write_ledger(tmp_path / "l.csv", row, columns=[*LEDGER_COLUMNS, "more"])
    refused(lambda: read_ledger(more, SCHEMA), "line 1", "columns", "more")
    refused(lambda: read_ledger(tmp_path / "none.csv", SCHEMA), "none.csv", "no such file")
