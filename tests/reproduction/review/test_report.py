"""The captions of the report, and its overview."""

import re
from types import SimpleNamespace

import pytest
from docutils.core import publish_parts
from jinja2 import Environment, StrictUndefined

from reproduction.jobs.descriptions import Descriptions, Study, read_descriptions
from reproduction.jobs.yaml_files import read_yaml
from reproduction.review.report_captions import fill_overview, write_captions
from tests import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # Snakemake's call
HTML = {"writer_name": "html"}


TABLE = {"title": "Noise", "caption": "By cell."}
SMALL = Descriptions(
    {
        "toy": Study(
            category="Toy",
            tables={
                "noise": TABLE,
                "long": TABLE | {"title": "All rows", "in_report": False},
                "away": TABLE | {"in_report": False},
            },
            figures={"map_{state}": TABLE | {"caption": "Of {state}."}},
        )
    }
)


def description(vintage, shown=()):
    provenance = {"message": "The data.", "vintage": vintage}
    settings = {"norm": "l1", "epsilon": 1, "chains": 4}
    template = (ROOT / "workflow/report/workflow.rst").read_text()
    config = {"counties": settings, "seed": 1}
    words = fill_overview(template, config, provenance, SMALL, shown, "Made by us.")
    return " ".join(publish_parts(words, **HTML)["body"].split())


def test_the_report_cites_the_vintage_that_the_run_used(capsys):
    for vintage, year in (("20201116", "2020"), ("20210608", "2021")):
        cited = f"Demonstration Data, version {vintage} [Database]. Minneapolis, MN: IPUMS. {year}."
        assert cited in description(vintage)
    without = description("")
    assert "Van Riper" not in without
    assert "Published counts: 2010 Census, US Census Bureau.</p>" in without
    assert capsys.readouterr().err == ""


DATA = [{"das_available": False, "vintage": "", "message": "The data."}] + [
    {"das_available": True, "vintage": vintage, "message": "The data."}
    for vintage in ("20201116", "20210608")
]


class Wildcards:
    def __getattr__(self, name):
        return "VT"


@pytest.fixture(scope="module")
def captions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captions")
    paths = sorted((ROOT / "src/reproduction").glob("*/descriptions.yaml"))
    write_captions(read_descriptions(paths), [], folder)
    found = sorted(folder.glob("*/*.rst"))
    assert len(found) > 100
    return found


@pytest.mark.parametrize("provenance", DATA, ids=lambda data: data["vintage"] or "published")
def test_every_caption_can_be_filled_and_read(captions, provenance, capsys):
    config = read_yaml(ROOT / "config/config.yaml") | {"provenance": provenance}
    values = SimpleNamespace(config=config, wildcards=Wildcards(), params=Wildcards())
    environment = Environment(undefined=StrictUndefined)
    for path in captions:
        text = environment.from_string(path.read_text()).render(snakemake=values)
        body = publish_parts(text, **HTML)["body"]
        assert (path.name, capsys.readouterr().err) == (path.name, "")
        assert not re.search(r"[{}]{2}|\{%", body), path.name


def test_each_file_of_a_run_and_each_description_has_a_caption(tmp_path):
    write_captions(SMALL, ["tables/noise", "figures/map_VT"], tmp_path)
    assert "By cell." in (tmp_path / "tables/noise.rst").read_text()
    assert "Of VT." in (tmp_path / "figures/map_VT.rst").read_text()
    assert "Of {{ snakemake.wildcards.state }}." in (tmp_path / "figures/map_state.rst").read_text()


def test_the_overview_names_what_this_run_made_and_the_report_leaves_out():
    text = fill_overview("{{ left_out }}", {}, {}, SMALL, ["tables/noise", "tables/long"], "")
    assert text == "* ``results/tables/long.html``: All rows"
