"""Notebooks as pages: run in a kernel, then one HTML file that asks nobody for anything.

Formulas are set by matplotlib while the page is made, and stand in it as SVG outlines: no script,
no font and no network is needed to read them.
"""

from __future__ import annotations

import html
import os
import tempfile
from functools import cache
from pathlib import Path

import nbformat
from jinja2 import pass_context
from jupyter_client import KernelManager
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter

from isdp.errors import InputError
from reproduction.review.results import EXPECTED, FOLDER, NotInThisRunError, ReviewError
from reproduction.review.style import STYLE

EM = 100  # units of a formula's outline to the font size
COMMANDS = {1: "M", 2: "L", 3: "Q", 4: "C"}  # matplotlib's path codes, as SVG's letters
POINTS = {1: 1, 2: 1, 3: 2, 4: 3}
CLOSE = 79
TEMPLATE = """
{%- extends 'basic/index.html.j2' -%}
{% block header %}<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{{ nb.metadata.title | escape_html }}</title><style>{{ page_style }}</style></head><body>
{% endblock %}
{% block input %}<details><summary>code</summary>
{{ cell.source | highlight_code(metadata=cell.metadata) }}</details>
{% endblock %}
{% block error %}<p class="absent">Not in this run: {{ output.evalue | escape_html }}.</p>
{% endblock %}
{% block footer %}<p class="made">{{ made_by | escape_html }}</p></body></html>
{% endblock %}
"""


@cache  # pages say many of them again
def formula(tex: str, display: bool = False) -> str:
    """Set a formula as SVG outlines that sit on the text's baseline.

    Parameters
    ----------
    tex : str
        In the part of TeX that matplotlib's mathtext knows.
    display : bool
        Whether it stands on a line of its own.

    Raises
    ------
    InputError
        If mathtext does not know a command in it.
    """
    source = " ".join(tex.split())
    # mathtext sets fractions small, as within a line
    known = source.replace(r"\frac", r"\dfrac") if display else source
    font = FontProperties(size=EM, math_fontfamily="dejavusans")
    try:
        corners, codes = text_to_path.get_text_path(font, f"${known}$", ismath=True)
    except ValueError as error:
        reason = str(error).strip().splitlines()[-1]
        raise InputError(f"the formula {source} cannot be set by mathtext: {reason}") from error
    outline, points, i = [], [(x, -y) for x, y in corners], 0
    while i < len(codes):
        if codes[i] == CLOSE:
            outline.append("Z")
            i += 1
            continue
        count = POINTS[int(codes[i])]
        spots = " ".join(f"{x:.1f} {y:.1f}" for x, y in points[i : i + count])
        outline.append(COMMANDS[int(codes[i])] + spots)
        i += count
    kept = [point for point, code in zip(points, codes, strict=True) if code != CLOSE]
    x0, x1 = min(x for x, _ in kept) - 2, max(x for x, _ in kept) + 2
    y0, y1 = min(y for _, y in kept) - 2, max(y for _, y in kept) + 2
    svg = (
        f'<svg class="formula" role="img" aria-label="{html.escape(source)}" '
        f'viewBox="{x0:.0f} {y0:.0f} {x1 - x0:.0f} {y1 - y0:.0f}" '
        f'style="width:{(x1 - x0) / EM:.3f}em;height:{(y1 - y0) / EM:.3f}em;'
        f'vertical-align:{-y1 / EM:.3f}em"><path fill="currentColor" d="{"".join(outline)}"/></svg>'
    )
    return f'<div class="formula">{svg}</div>' if display else svg


class Renderer(IPythonRenderer):
    """Markdown to HTML with formulas as SVG and links from page to page."""

    def block_math(self, body: str) -> str:
        """Set a formula on a line of its own."""
        return formula(body, display=True)

    def inline_math(self, body: str) -> str:
        """Set a formula in a line of text."""
        return formula(body)

    def latex_environment(self, name: str, body: str) -> str:
        """Refuse what mathtext cannot set."""
        raise InputError(f"the environment {name} cannot be set by mathtext; use $$ ... $$")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Link to another notebook's page instead of the notebook."""
        return super().link(text, url.replace(".ipynb", ".html"), title)


def markdown(text: str) -> str:
    """Markdown as HTML, formulas included."""
    return MarkdownWithMath(renderer=Renderer(escape=False)).render(text)


class PageExporter(HTMLExporter):
    """One HTML file: prose, figures and numbers in view, the code folded away."""

    @pass_context
    def markdown2html(self, context, source):
        """Set Markdown; nbconvert calls it for every text cell and text output."""
        return markdown(source)


def execute(paths, results, expect=None) -> list[nbformat.NotebookNode]:
    """Run notebooks of one folder from top to bottom, each on a clean slate.

    One kernel serves them all: to start one takes longer than most notebooks do.

    Parameters
    ----------
    paths : list of path
    results : path
        The results folder that they review.
    expect : path, optional
        A config that the results must agree with.

    Raises
    ------
    InputError
        With the notebook's own words if it refuses the results.
    """
    with tempfile.TemporaryDirectory() as own:
        # neither a kernel's history nor its connection file goes into anybody's home
        os.environ["JUPYTER_RUNTIME_DIR"] = own
        variables = {FOLDER: str(Path(results).resolve()), "IPYTHONDIR": own}
        if expect is not None:
            variables[EXPECTED] = str(Path(expect).resolve())
        kernel = KernelManager(kernel_name="python3")
        kernel.start_kernel(
            extra_arguments=["--log-level=ERROR"],  # else it warns of its own local sockets
            env=os.environ | variables,
            cwd=str(Path(paths[0]).parent),
        )
        try:
            return [_run(Path(path), kernel) for path in paths]
        finally:
            kernel.shutdown_kernel(now=True)


def _run(path: Path, kernel: KernelManager) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    # a cell of our own forgets what the notebook before has defined
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -s -f"))
    client = NotebookClient(
        notebook, km=kernel, timeout=300, allow_error_names=[NotInThisRunError.__name__]
    )
    try:
        client.execute()
    except CellExecutionError as error:
        if error.ename == ReviewError.__name__:
            raise InputError(f"{path.name}: {error.evalue}") from error
        raise
    finally:
        if client.kc is not None:  # it lets go of a kernel of its own only
            client.kc.stop_channels()
    del notebook.cells[0]
    return notebook


def pages(notebooks, made: str) -> list[str]:
    """Turn notebooks that have been run into one HTML file each.

    Parameters
    ----------
    notebooks : list of NotebookNode
    made : str
        What made them, from `reproduction.running.origin.made_by`; it stands at the end.
    """
    exporter = PageExporter(raw_template=TEMPLATE)
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    exporter.environment.globals["page_style"] = STYLE + HtmlFormatter().get_style_defs(
        ".highlight"
    )
    exporter.environment.globals["made_by"] = made
    return [exporter.from_notebook_node(notebook)[0] for notebook in notebooks]
