"""Downloads from a server on the loopback interface, local files, and the ledger of addresses."""

import hashlib
import io
import json
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

from reproduction.data.fetch import (
    LEDGER_COLUMNS,
    obtain_demonstration,
    read_ledger,
)
from tests import ROOT
from tests.reproduction.data.test_demonstration import GENUINE, NAME, PUBLISHED, refused

FILE = NAME.replace(".csv", ".zip")


def packed(table=GENUINE, name=NAME):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), table)
    return buffer.getvalue()


GOOD = packed()
SHA256 = hashlib.sha256(GOOD).hexdigest()


class Site(ThreadingHTTPServer):
    """A server on the loopback interface with one page: (status, content), or "silent"."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.page, self.requests, self.closing = (200, GOOD), 0, threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/{FILE}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        if self.server.page == "silent":
            self.server.closing.wait(5)
            return
        status, content = self.server.page
        self.send_response(status)
        # a page that is shorter than announced is a connection that breaks off
        self.send_header("Content-Length", str(len(GOOD) if content == GOOD[:50] else len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture(autouse=True)
def _quick_loopback(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(time, "sleep", lambda _: None)


@pytest.fixture
def site():
    with Site() as site:
        thread = threading.Thread(target=site.serve_forever, args=(0.01,))
        thread.start()
        yield site
        site.closing.set()
        site.shutdown()
        thread.join()


def entry(url="https://x.org/a.zip", **changes):
    row = {
        "dataset": "demonstration data",
        "vintage": "20210608",
        "file": FILE,
        "url": url,
        "sha256": "",
        "population_column": "H72001",
        "address_known_from": "test",
        "note": "",
    }
    return row | changes


def get(tmp_path, *rows, local_file=None, vintage="20210608", retries=0, timeout=(2.0, 2.0)):
    return obtain_demonstration(
        vintage=vintage,
        local_file=local_file,
        ledger=pd.DataFrame(rows, columns=list(LEDGER_COLUMNS), dtype="str"),
        cache=tmp_path / "cache",
        published=PUBLISHED,
        retries=retries,
        timeout=timeout,
    )


# -- downloads ------------------------------------------------------------------------------------


def test_a_download_is_kept_and_used_again_without_the_network(tmp_path, site, capfd):
    demonstration, provenance = get(tmp_path, entry(site.url))
    assert demonstration.counties["dp"].tolist() == [5194670, 916929, 209233, 76569]
    message = provenance.pop("message")
    assert "20210608" in message
    assert site.url in message
    assert provenance == {
        "source": "download",
        "file_name": FILE,
        "address": site.url,
        "sha256": SHA256,
        "vintage": "20210608",
        "population_column": "H72001",
        "das_available": True,
    }
    assert (tmp_path / "cache" / FILE).read_bytes() == GOOD
    site.page = (503, b"")
    assert get(tmp_path, entry(site.url))[1] == provenance | {"message": message}
    assert site.requests == 1
    assert capfd.readouterr() == ("", "")


def test_the_hash_of_the_ledger_is_checked(tmp_path, site):
    assert get(tmp_path, entry(site.url, sha256=SHA256.upper()))[1]["sha256"] == SHA256
    wrong = entry(site.url, sha256="0" * 64)
    refused(lambda: get(tmp_path, wrong, retries=2), site.url, "sha256", "0" * 64)
    assert site.requests == 1 + 3


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"<!DOCTYPE html><title>Sign in</title>", "web page"),
        (packed(GENUINE.replace("5194670", "5194671")), "state IL"),
        (packed(name="nhgis_ppdd_20201116_county.csv"), "20201116"),
        (packed(GENUINE.replace("H72001", "H7V001"), "county.csv"), "H7V001"),
    ],
)
def test_a_wrong_download_is_an_error_and_is_not_kept(tmp_path, site, content, word):
    site.page = (200, content)
    row = entry(site.url, file="nhgis.zip" if b"20210608" not in content else FILE)
    refused(lambda: get(tmp_path, row), site.url, word)
    assert list((tmp_path / "cache").glob("*")) == []
    site.page = (200, GOOD)
    assert get(tmp_path, row)[1]["das_available"]


# -- no demonstration data ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "reason", "requests"),
    [
        ((404, b"<html>no</html>"), "404", 3),
        ((200, GOOD[:50]), "", 3),
        ("silent", "", 3),
        (None, "", 0),
    ],
)
def test_without_an_answer_the_published_counts_are_used(tmp_path, site, page, reason, requests):
    site.page, url = page, site.url
    if page is None:  # nothing answers at the address
        url = url.replace(str(site.server_port), "9")
    demonstration, provenance = get(tmp_path, entry(url), retries=2, timeout=(2.0, 0.1))
    assert demonstration is None
    assert provenance["source"] == "published counts"
    assert not provenance["das_available"]
    for field in ("file_name", "address", "sha256", "vintage", "population_column"):
        assert provenance[field] == ""
    for word in ("20210608", "127.0.0.1", reason):
        assert word in provenance["message"]
    assert "0x" not in provenance["message"]
    assert site.requests == requests
    assert list((tmp_path / "cache").glob("*")) == []


def test_only_the_address_of_the_vintage_is_tried(tmp_path, site):
    rows = entry("http://127.0.0.1:9/b.zip", vintage="20201116"), entry(site.url)
    assert get(tmp_path, *rows)[1]["vintage"] == "20210608"
    refused(lambda: get(tmp_path, *rows, vintage="20200527"), "20200527", "20201116 20210608")


def test_a_cache_that_is_not_writable_is_refused(tmp_path, site):
    (tmp_path / "cache").write_text("a file, not a folder")
    refused(lambda: get(tmp_path, entry(site.url)), "cache")


# -- a local file ---------------------------------------------------------------------------------


def test_a_local_file_comes_first_and_has_its_own_vintage(tmp_path, site):
    local = tmp_path / "mine.zip"
    local.write_bytes(GOOD)
    demonstration, provenance = get(tmp_path, entry(site.url), local_file=local)
    assert site.requests == 0
    assert demonstration.file_name == provenance["file_name"] == "mine.zip"
    assert (provenance["source"], provenance["address"]) == ("local file", "")
    assert provenance["sha256"] == SHA256
    assert str(tmp_path) not in json.dumps(provenance)
    # the ledger need not have the configuration's vintage
    provenance = get(tmp_path, local_file=local, vintage="20201116")[1]
    assert provenance["vintage"] == "20210608"
    assert "20201116" in provenance["message"]
    local.write_text(GENUINE)
    provenance = get(tmp_path, local_file=local)[1]
    assert provenance["vintage"] == "unknown"
    assert "unknown vintage" in provenance["message"]


@pytest.mark.parametrize("content", [b"<html>", packed(GENUINE.replace("5194670", "5194671"))])
def test_a_wrong_local_file_is_not_replaced(tmp_path, site, content):
    local = tmp_path / "mine.zip"
    local.write_bytes(content)
    refused(lambda: get(tmp_path, entry(site.url), local_file=local), "mine.zip")
    assert local.read_bytes() == content
    assert site.requests == 0


# -- the ledger -----------------------------------------------------------------------------------


def write_ledger(path, *rows):
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_the_ledger_of_the_repository():
    ledger = read_ledger(ROOT / "data" / "sources.csv")
    vintages = ["20191029", "20200527", "20200917", "20201116", "20210608"]
    assert ledger["vintage"].tolist() == vintages
    assert ledger["population_column"].tolist() == ["H7V001"] * 2 + ["H72001"] * 3
    for vintage, url in zip(vintages, ledger["url"], strict=True):
        folder = f"https://assets.nhgis.org/differential-privacy/v{vintage}"
        assert url == f"{folder}/nhgis_ppdd_{vintage}_county.zip"


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("vintage", "2021-06-08"),
        ("url", "ftp://x.org/a.zip"),
        ("url", "https://me:secret@x.org/a.zip"),
        ("url", ""),
        ("sha256", "ab"),
        ("file", "../a.zip"),
        ("population_column", "H7X001"),
        ("vintage", "20210608"),  # as in the row before
    ],
)
def test_a_wrong_cell_of_the_ledger_is_named(tmp_path, column, cell):
    rows = entry(), entry(vintage="20201116") | {column: cell}
    path = write_ledger(tmp_path / "l.csv", *rows)
    refused(lambda: read_ledger(path), "l.csv", "line 3", f"{column}:")


def test_other_columns_of_the_ledger_are_refused(tmp_path):
    fewer = entry()
    del fewer["note"]
    for row in (fewer, entry(more="")):
        path = write_ledger(tmp_path / "l.csv", row)
        refused(lambda path=path: read_ledger(path), "line 1", "columns")
