"""Execution of the review notebooks, and their export as single HTML files.

Formulas become MathML, so that a page needs no script, font or network access.
"""

import os
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import nbformat
from latex2mathml.converter import convert
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter

from isdp.errors import InputError
from reproduction.review.notebook_results import FOLDER_VARIABLE, NotInThisRunError, ReviewError
from reproduction.review.pages import TEMPLATES

TEMPLATE = """
{%- extends 'basic/index.html.j2' -%}
{% block header %}<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{{ nb.metadata.title | escape_html }}</title><style>{{ page_style }}</style></head><body>
{% endblock %}
{% block input %}<details class="code"><summary>code</summary>
{{ cell.source | highlight_code(metadata=cell.metadata) }}</details>
{% endblock %}
{% block error %}<p class="absent">Not in this run: {{ output.evalue | escape_html }}.</p>
{% endblock %}
{% block footer %}<p class="made">{{ made_by | escape_html }}</p></body></html>
{% endblock %}
"""


def convert_formula(tex: str, display: bool = False) -> str:
    """Convert a LaTeX formula to MathML, inline or (`display`) as a block.

    Raises InputError if latex2mathml does not know a command in the formula.
    """
    mathml = convert(tex, display="block" if display else "inline")
    # latex2mathml copies unknown commands to its output
    try:
        ElementTree.fromstring(mathml)
        known = "\\" not in mathml
    except ElementTree.ParseError:
        known = False
    if not known:
        raise InputError(
            f"formula {tex.strip()}: latex2mathml does not know a command in it. Change it."
        )
    return mathml


class Renderer(IPythonRenderer):
    """Converter from Markdown to HTML, with formulas as MathML and links between pages."""

    def block_math(self, body: str) -> str:
        """Convert a displayed formula."""
        return f'<div class="formula">{convert_formula(body, display=True)}</div>'

    def inline_math(self, body: str) -> str:
        """Convert an inline formula."""
        return convert_formula(body)

    def latex_environment(self, name: str, body: str) -> str:
        """Convert a LaTeX environment that is not between dollar signs."""
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Replace the link to another notebook by a link to its page."""
        return super().link(text, url.replace(".ipynb", ".html"), title)


def convert_markdown(text: str) -> str:
    """Convert Markdown to HTML, formulas included."""
    return MarkdownWithMath(renderer=Renderer(escape=False)).render(text)


def execute_notebook(path, results) -> nbformat.NotebookNode:
    """Execute a notebook in a new kernel, with the results folder as its data.

    Raises InputError, with the notebook's message, if the notebook refuses the results.
    """
    path = Path(path)
    with tempfile.TemporaryDirectory() as own:
        # the kernel writes nothing into the home folder, which may be read-only
        os.environ["JUPYTER_RUNTIME_DIR"] = own
        variables = {FOLDER_VARIABLE: str(Path(results).resolve()), "IPYTHONDIR": own}
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=300,
            allow_error_names=[NotInThisRunError.__name__],
            extra_arguments=["--log-level=ERROR"],
        )
        try:
            client.execute(cwd=str(path.parent), env=os.environ | variables)
        except CellExecutionError as error:
            if error.ename == ReviewError.__name__:
                raise InputError(f"{path.name}: {error.evalue}") from error
            raise
    return notebook


def export_page(notebook, made: str) -> str:
    """Export an executed notebook as one HTML file that ends with the provenance line `made`."""
    exporter = HTMLExporter(raw_template=TEMPLATE, filters={"markdown2html": convert_markdown})
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    style = TEMPLATES.get_template("style.css.j2").render() + HtmlFormatter().get_style_defs(
        ".highlight"
    )
    exporter.environment.globals.update(page_style=style, made_by=made)
    return exporter.from_notebook_node(notebook)[0]
