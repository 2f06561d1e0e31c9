"""The reviewing notebooks as they are kept: stripped, reading only results, formulas that set."""

import ast
import json
import re

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from isdp.errors import InputError
from reproduction.review import notebooks
from reproduction.review.notebooks import execute, formula, markdown, pages
from tests import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MAY_IMPORT = {"reproduction.review.results", "fractions", "math"}
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path, kind):
    found = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


@each
def test_kept_without_outputs_and_with_what_the_page_needs(path):
    content = json.loads(path.read_text())
    assert content["metadata"]["language_info"] == {"name": "python"}
    assert content["metadata"]["title"]
    for cell in content["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    nbformat.validate(nbformat.from_dict(content))


@each
def test_reads_results_and_samples_nothing(path):
    for source in cells(path, "code"):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= MAY_IMPORT
            if isinstance(node, ast.ImportFrom):
                assert node.module in MAY_IMPORT
        assert not re.search(r"\bopen\(|random|savefig|write_|to_csv", source)


@each
def test_every_formula_is_set_and_every_link_leads_to_a_page(path):
    text = "".join(markdown(source) for source in cells(path, "markdown"))
    assert "$" not in text
    links = re.findall(r'href="(\d\d_[^"]+)"', text)
    assert links
    assert set(links) <= {f"{other.stem}.html" for other in NOTEBOOKS}


def test_every_page_has_a_line_in_the_overviews_list():
    assert "list_pages()" in "".join(cells(FOLDER / "00_overview.ipynb", "code"))
    for path in NOTEBOOKS[1:]:
        assert json.loads(path.read_text())["metadata"]["papers"]


def test_the_overview_spells_out_each_paper_that_a_page_is_of():
    overview = "".join(cells(FOLDER / "00_overview.ipynb", "markdown"))
    for path in NOTEBOOKS[1:]:
        papers = json.loads(path.read_text())["metadata"]["papers"]
        for paper in re.findall(r"[A-Z]{3,4}", papers):
            assert re.search(rf"\b{paper} is\s\*", overview), paper


def test_the_errata_are_listed_as_of_the_papers_that_their_headings_name():
    path = FOLDER / "90_errata.ipynb"
    headings = re.findall(r"^## \d+\..*\((.*)\)$", "\n".join(cells(path, "markdown")), re.MULTILINE)
    named = json.loads(path.read_text())["metadata"]["papers"].split(", ")
    assert sorted({heading.split()[0].strip(",") for heading in headings}) == sorted(named)


def test_a_formula_is_outlines_on_the_baseline():
    svg = formula(r"x_1")
    assert svg.startswith("<svg")
    assert "vertical-align:-0." in svg
    assert 'aria-label="x_1"' in svg
    left, top, width, height = map(float, re.search(r'viewBox="([^"]+)"', svg)[1].split())
    spots = re.findall(r"(-?[\d.]+) (-?[\d.]+)", re.search(r' d="([^"]+)"', svg)[1])
    for start, size, places in zip(
        (left, top), (width, height), zip(*spots, strict=True), strict=True
    ):
        places = [float(place) for place in places]
        assert start == pytest.approx(min(places) - 2, abs=0.6)
        assert start + size == pytest.approx(max(places) + 2, abs=1.1)
    assert formula("x", display=True).startswith('<div class="formula">')
    with pytest.raises(InputError, match="cannot be set"):
        formula(r"\nonsense{x}")
    with pytest.raises(InputError, match="align"):
        markdown("\\begin{align}x\\end{align}")


def test_a_page_asks_nobody_folds_code_away_and_says_what_is_missing():
    code = nbformat.v4.new_code_cell("1 + 1", execution_count=1)
    code.outputs = [
        nbformat.v4.new_output("display_data", {"text/markdown": "**2** with $n$"}),
        nbformat.v4.new_output(
            "error", ename="NotInThisRunError", evalue="no table <t>", traceback=["long"]
        ),
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# T"), code])
    notebook.metadata = {"title": "Title", "language_info": {"name": "python"}}
    (text,) = pages([notebook], "Made by <us>.")
    assert not re.search(r"<script|https?://|@import", text)
    assert "<details><summary>code</summary>" in text
    assert "<strong>2</strong>" in text
    assert "<svg" in text
    assert "Not in this run: no table &lt;t&gt;." in text
    assert "Made by &lt;us&gt;." in text
    assert "long" not in text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ReviewError", InputError),
        ("KeyError", CellExecutionError),  # before it in the alphabet, and after
        ("ValueError", CellExecutionError),
    ],
)
def test_only_a_notebooks_own_refusal_is_told_in_its_words(tmp_path, monkeypatch, name, expected):
    class Refuses(notebooks.NotebookClient):
        def execute(self, **_):
            raise CellExecutionError("traceback: no tables here", name, "no tables here")

    class Kernel:
        def __init__(self, **_):
            self.runs = False

        def start_kernel(self, **_):
            self.runs = True
            started.append(self)

        def shutdown_kernel(self, **_):
            self.runs = False

    started = []
    monkeypatch.setattr(notebooks, "KernelManager", Kernel)
    monkeypatch.setattr(notebooks, "NotebookClient", Refuses)
    path = tmp_path / "01_w.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), path)
    with pytest.raises(expected, match="no tables here") as caught:
        execute([path], tmp_path)
    assert (str(caught.value) == "01_w.ipynb: no tables here") == (expected is InputError)
    assert [kernel.runs for kernel in started] == [False]


def test_a_notebook_knows_nothing_of_the_one_before(tmp_path):
    sources = ["known = 1\nprint(known)", "print('known' in globals())"]
    paths = [tmp_path / f"0{number}_w.ipynb" for number in range(2)]
    for path, source in zip(paths, sources, strict=True):
        cells = [nbformat.v4.new_code_cell(source)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    executed = execute(paths, tmp_path)
    assert [len(notebook.cells) for notebook in executed] == [1, 1]
    printed = [notebook.cells[0].outputs[0]["text"] for notebook in executed]
    assert printed == ["1\n", "False\n"]
