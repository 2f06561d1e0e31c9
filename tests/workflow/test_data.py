"""A download of the demonstration data, as the workflow meets it."""

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.reproduction.data.nhgis import write_made_up


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


def test_a_download_from_loopback_is_checked_and_kept(checkout, served):
    folder, address = served
    file = write_made_up(folder)
    checkout.write_config({"data": {"ledger": "data/test_sources.csv", "vintage": "20210608"}})
    checkout.write_ledger("20210608", f"{address}/{file.name}")
    done = checkout.run("--cores", "1", "results/data/counties.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    provenance = json.loads((checkout.folder / "results/data/provenance.json").read_text())
    assert provenance["source"] == "download"
    assert provenance["address"] == f"{address}/{file.name}"
    assert provenance["das_available"] is True
    kept = checkout.folder / "results/data/download" / file.name
    assert kept.read_bytes() == file.read_bytes()
