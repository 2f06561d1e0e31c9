import inspect
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
import snakemake.report
from docutils.core import publish_parts
from jinja2 import Template

from reproduction.review.report import TARGETS, without_targets
from tests import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # Snakemake's call
HTML = {"writer_name": "html"}
LINKS = f"\n{TARGETS}show_panel('workflow')\n.. _x.csv: javascript:app.showResultInfo('x.csv')\n"


def test_a_caption_is_set_as_snakemake_sets_it(capsys):
    caption = f"Noise of **VT**, in ``results/x.csv``.\n\nSeed 1.\n{LINKS}"
    whole = publish_parts(caption, **HTML)["body"]
    assert "<strong>VT</strong>" in whole
    assert without_targets(caption, **HTML)["body"] == whole
    assert capsys.readouterr().err == ""


def test_a_caption_that_links_to_a_file_is_what_refuses_a_report(capsys):
    publish_parts(f"See x.csv_.\n{LINKS}", **HTML)
    assert capsys.readouterr().err == ""
    without_targets(f"See x.csv_.\n{LINKS}", **HTML)
    assert '(ERROR/3) Unknown target name: "x.csv"' in capsys.readouterr().err


def description(vintage):
    provenance = {"message": "The data.", "vintage": vintage}
    settings = {"norm": "l1", "epsilon": 1, "chains": 4}
    config = {"provenance": provenance, "counties": settings, "seed": 1, "words": {}}
    text = (ROOT / "workflow/report/workflow.rst").read_text()
    words = Template(text).render(snakemake=SimpleNamespace(config=config))
    return " ".join(publish_parts(words, **HTML)["body"].split())


def test_the_report_cites_the_vintage_that_the_run_used(capsys):
    for vintage, year in (("20201116", "2020"), ("20210608", "2021")):
        cited = f"Demonstration Data, version {vintage} [Database]. Minneapolis, MN: IPUMS. {year}."
        assert cited in description(vintage)
    without = description("")
    assert "Van Riper" not in without
    assert "Published counts: 2010 Census, US Census Bureau.</p>" in without
    assert capsys.readouterr().err == ""


def test_the_stylesheet_is_for_what_snakemakes_report_has():
    folder = Path(snakemake.report.__file__).parent / "html_reporter/template/components"
    parts = {name: (folder / f"{name}.js").read_text() for name in ("app", "content", "navbar")}
    assert '"flex flex-row w-screen h-screen"' in parts["app"]
    assert '"grow flex items-center justify-center h-screen overflow-auto"' in parts["content"]
    assert '"nav"' in parts["navbar"]
    rules = (ROOT / "workflow/report/report.css").read_text()
    assert rules.count("{") == rules.count("}")


def test_snakemake_still_does_what_is_undone():
    source = textwrap.dedent(inspect.getsource(snakemake.report.auto_report))
    assert TARGETS in source.replace("\n    ", "\n")
    assert snakemake.report.publish_parts is publish_parts
