import inspect
import textwrap

import pytest
import snakemake.report
from docutils.core import publish_parts

from reproduction.review.report import TARGETS, without_targets

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


def test_snakemake_still_does_what_is_undone():
    source = textwrap.dedent(inspect.getsource(snakemake.report.auto_report))
    assert TARGETS in source.replace("\n    ", "\n")
    assert snakemake.report.publish_parts is publish_parts
