"""The reviewing notebooks as they are kept: stripped, reading only results, formulas that set."""

import ast
import json
import re
from xml.etree import ElementTree

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from isdp.errors import InputError
from reproduction.review.notebooks import (
    convert_formula,
    convert_markdown,
    execute_notebook,
    export_page,
)
from tests import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MAY_IMPORT = {
    *("reproduction.review.notebook_results", "reproduction.review.side_by_side"),
    *("fractions", "math"),
}
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
    text = "".join(convert_markdown(source) for source in cells(path, "markdown"))
    assert "$" not in text
    assert "\\" not in text
    found = re.findall(r"<math.*?</math>", text, re.DOTALL)
    assert len(found) == text.count("<math")
    for each_formula in found:
        ElementTree.fromstring(each_formula)
    links = re.findall(r'href="(\d\d_[^"]+)"', text)
    assert links
    assert set(links) <= {f"{other.stem}.html" for other in NOTEBOOKS}


def test_the_overview_spells_out_each_paper_that_a_page_is_of():
    overview = "".join(cells(FOLDER / "00_overview.ipynb", "markdown"))
    for path in NOTEBOOKS[1:]:
        papers = json.loads(path.read_text())["metadata"]["papers"]
        for paper in re.findall(r"[A-Z]{3,4}", papers):
            assert re.search(rf"\b{paper} is\s\*", overview), paper


def test_a_formula_is_mathml():
    root = ElementTree.fromstring(convert_formula(r"\frac{a}{b} < \epsilon"))
    assert root.tag == "{http://www.w3.org/1998/Math/MathML}math"
    assert root.get("display") == "inline"
    assert "".join(root.itertext()) == "ab<\u03f5"
    assert ElementTree.fromstring(convert_formula("x", display=True)).get("display") == "block"
    assert "<mtable" in convert_markdown("\\begin{align}x&=1\\end{align}")


@pytest.mark.parametrize(
    "tex", [r"\nonsense{x}", r"x + \arg u", r"\begin{aligned}x&=1\end{aligned}"]
)
def test_a_formula_with_an_unknown_command_is_refused(tex):
    with pytest.raises(InputError, match=re.escape(tex)):
        convert_markdown(f"It is ${tex}$.")


def test_a_page_needs_no_network_folds_code_away_and_says_what_is_missing():
    code = nbformat.v4.new_code_cell("1 + 1", execution_count=1)
    code.outputs = [
        nbformat.v4.new_output("display_data", {"text/markdown": "**2** with $n$"}),
        nbformat.v4.new_output(
            "error", ename="NotInThisRunError", evalue="no table <t>", traceback=["long"]
        ),
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# T"), code])
    notebook.metadata = {"title": "Title", "language_info": {"name": "python"}}
    text = export_page(notebook, "Made by <us>.")
    # the name of the MathML namespace is no address that is fetched
    assert not re.search(r"<script|(src|href)=\W?https?:|url\(|@import", text)
    assert '<details class="code"><summary>code</summary>' in text
    assert "<strong>2</strong>" in text
    assert "<math" in text
    assert "Not in this run: no table &lt;t&gt;." in text
    assert "Made by &lt;us&gt;." in text
    assert "long" not in text


def notebook_of(folder, *sources):
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "01_study.ipynb")
    return folder / "01_study.ipynb"


def test_only_a_refusal_of_the_results_becomes_an_input_error(tmp_path):
    refusal = "from reproduction.review.notebook_results import open_results\nopen_results()"
    with pytest.raises(InputError, match=r"^01_study.ipynb: no \w+/config.yaml"):
        execute_notebook(notebook_of(tmp_path, refusal), tmp_path)
    with pytest.raises(CellExecutionError, match="KeyError"):
        execute_notebook(notebook_of(tmp_path, "{}['key']"), tmp_path)


def test_a_notebook_goes_on_where_this_run_lacks_a_table(tmp_path):
    missing = "from reproduction.review.notebook_results import NotInThisRunError as Missing\n"
    path = notebook_of(tmp_path, missing + "raise Missing('no table')", "print('on')")
    first, second = execute_notebook(path, tmp_path).cells
    assert first.outputs[0].evalue == "no table"
    assert second.outputs[0].text == "on\n"


def test_each_notebook_has_a_kernel_of_its_own_that_leaves_no_file_at_home(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "beside.txt").write_text("read")
    sources = "import os", "print(os.getpid())", "print(open('beside.txt').read())"
    outputs = [execute_notebook(notebook_of(tmp_path, *sources), tmp_path).cells for _ in range(2)]
    assert outputs[0][1].outputs[0].text != outputs[1][1].outputs[0].text
    assert outputs[0][2].outputs[0].text == "read\n"
    assert not any(path.is_file() for path in (tmp_path / "home").rglob("*"))
