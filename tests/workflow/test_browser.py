"""The pages in a real headless browser: they open, show everything, and send no request."""

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.workflow.browser import ask, find_browser
from tests.workflow.conftest import NOTEBOOKS_LEFT_OUT

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="there is no Chromium on this machine"
)
PHONE, DESK = 390, 1280
# pictures and formulas that are not drawn, also in what the notebooks inline; the links; the words
CONTENT = """
widths([...document.images].map(image => image.src)).then(found => ({
  drawn: [
    ...[...document.images].filter((_, place) => !found[place]),
    ...[...document.querySelectorAll("math")]
      .filter(math => !(math.getBoundingClientRect().width > 0)),
  ].map(each => each.outerHTML.slice(0, 120)),
  links: [...document.querySelectorAll("a[href]")].map(a => [a.getAttribute("href"), a.href]),
  words: document.body.innerText.trim(),
  formulas: document.querySelectorAll("math").length,
  requests: performance.getEntriesByType("resource").map(entry => entry.name)
    .filter(name => !/^(file|data|blob|about):/.test(name)),
}))
"""
# what stands out of the window sideways, and cannot be scrolled within its own box
TOO_WIDE = """
Promise.resolve(document.documentElement.scrollWidth > innerWidth
  ? [...document.body.querySelectorAll("*")]
      .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
      .map(each => each.outerHTML.slice(0, 120))
  : [])
"""
HEIGHT = "Promise.resolve(document.documentElement.scrollHeight)"
# the report: the pictures that it holds, and what it shows after clicks on a figure and a table
REPORT = """
(async () => {
  // the beginning of a page that is longer than the window can be reached
  const top = document.querySelector("#app .prose").getBoundingClientRect().top;
  const images = Object.entries(results).filter(([, held]) => held.mime_type.startsWith("image/"));
  const found = await widths(images.map(([, held]) => held.data_uri));
  const until = async what => { while (!what()) await pause(50); };
  const link = words => [...document.querySelectorAll("a")]
    .find(a => a.innerText.trim() === words);
  const eye = kind => [...document.querySelectorAll("tr")]
    .find(row => row.innerText.includes(kind))?.querySelector("[iconname=eye]");
  for (const wanted of [() => link("Counties"), () => link("Truncation at zero"),
                       () => eye("figure")]) {
    await until(wanted);
    wanted().click();
  }
  await until(() => [...document.images].some(image => image.naturalWidth > 200));
  eye("table").click();
  await until(() => document.querySelector("iframe")?.src.startsWith("data:text/html"));
  await pause(200);  // for what the table itself might ask for
  return {top, widths: images.map(([name], place) => [name, found[place]])};
})()
"""
ADVICE = "cdn.tailwindcss.com should not be used in production"  # of Snakemake's report
FRONT_PAGE_WEIGHS = 5_000_000
FRONT_PAGE_PIXELS = 6_000  # six screens
NOTEBOOK_PIXELS = 9_000  # ten screens


def broken_links(links):
    """Links to files or places within pages that are not there."""
    for written, resolved in links:
        address = urlsplit(resolved)
        path, name = Path(unquote(address.path)), unquote(address.fragment)
        # the tests' checkout has not all notebooks
        if address.scheme == "file" and written != "#" and path.stem not in NOTEBOOKS_LEFT_OUT:
            text = path.read_text() if path.suffix == ".html" and path.exists() else ""
            place = f'(id|name)="{re.escape(name)}"'
            if not path.exists() or (name and text and not re.search(place, text)):
                yield written


def faults(content, console):
    """Everything that is wrong with a page, as a list of words."""
    found = [f"not drawn: {words}" for words in content["drawn"]]
    found += [f"link: {written}" for written in broken_links(content["links"])]
    found += [] if content["words"] else ["the page is empty"]
    found += [f"request: {name}" for name in content["requests"]]
    return found + [f"console: {words}" for words in console if ADVICE not in words]


def test_every_fault_would_be_seen(tmp_path):
    there, bad, wide = (tmp_path / f"{name}.html" for name in ("there", "bad", "wide"))
    there.write_text('<p id="spot">here</p>')
    bad.write_text(
        '<!doctype html><link rel="icon" href="data:,"><p>text</p>'
        '<img src="data:image/png;base64,AAAA"><math></math>'
        '<a href="gone.html">a</a><a href="there.html#spot">b</a><a href="there.html#away">c</a>'
        '<script>console.error("said"); setTimeout(() => { throw new Error("oh") })</script>'
        '<script src="http://127.0.0.1:9/far.js"></script>'
    )
    wide.write_text('<p style="width:900px">wide</p>')
    pages = (bad, CONTENT), (there, CONTENT), (wide, TOO_WIDE)
    first, second, third = ask(tmp_path, [(page.as_uri(), PHONE, q) for page, q in pages])
    found = "\n".join(faults(*first))
    for words in ("not drawn: <img", "<math", "link: gone.html", "link: there.html#away"):
        assert words in found
    assert found.count("link: ") == 2
    for words in ("said", "Error: oh", "request: http://127.0.0.1:9/far.js"):
        assert words in found
    assert faults(*second) == []
    assert third[0][0].startswith("<p style")


@pytest.fixture(scope="module")
def pages(finished):
    results = finished.folder / "results"
    top = [results / name for name in ("report.html", "index.html", "tables/scorecard.html")]
    found = [
        *top,
        *(
            page
            for name in ("notebooks", "papers")
            for page in sorted(results.glob(f"{name}/*.html"))
        ),
    ]
    assert len(found) > 4
    return found


def test_every_page_opens_in_full_and_alone(pages, finished, tmp_path):
    seen = ask(tmp_path, [(page.as_uri(), DESK, CONTENT) for page in pages])
    found = {page.name: faults(*each) for page, each in zip(pages, seen, strict=True)}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    formulas = {}
    for page, (content, _) in zip(pages, seen, strict=True):
        notebook = finished.folder / f"notebooks/{page.stem}.ipynb"
        if notebook.exists():
            cells = json.loads(notebook.read_text())["cells"]
            text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
            assert "$" not in content["words"], page.name
            formulas[page.name] = text.replace("$$", "$").count("$") // 2
            assert content["formulas"] >= formulas[page.name], page.name
    assert sum(formulas.values()) > 0


def test_no_page_is_wider_than_a_phone(pages, tmp_path):
    table = next(page for page in pages if page.stem == "scorecard").read_text()
    assert '<div class="wide"' in table
    unboxed = tmp_path / "unboxed.html"
    unboxed.write_text(table.replace('<div class="wide"', "<div"))
    *seen, (wide, _) = ask(tmp_path, [(p.as_uri(), PHONE, TOO_WIDE) for p in [*pages, unboxed]])
    assert [found for found, _ in seen] == [[]] * len(pages)
    assert wide


def test_the_front_page_is_short_and_small(pages, tmp_path):
    (page,) = (each for each in pages if each.stem == "index")
    assert page.stat().st_size < FRONT_PAGE_WEIGHS
    ((height, _),) = ask(tmp_path, [(page.as_uri(), DESK, HEIGHT)])
    assert height <= FRONT_PAGE_PIXELS


def test_no_notebook_is_longer_than_ten_screens(pages, tmp_path):
    notebooks = [page for page in pages if page.parent.name == "notebooks"]
    seen = ask(tmp_path, [(page.as_uri(), DESK, HEIGHT) for page in notebooks])
    heights = {page.stem: height for page, (height, _) in zip(notebooks, seen, strict=True)}
    assert {name: height for name, height in heights.items() if height > NOTEBOOK_PIXELS} == {}


def test_the_report_shows_its_figures_and_tables_when_clicked(pages, finished, tmp_path):
    report = pages[0]
    assert (finished.folder / "workflow/report/report.css").read_text() in report.read_text()
    ((seen, console),) = ask(tmp_path, [(report.as_uri(), DESK, REPORT)])
    assert seen["top"] >= 0
    assert "results/figures/truncation.svg" in dict(seen["widths"])
    assert [name for name, width in seen["widths"] if not width] == []
    assert [words for words in console if ADVICE not in words] == []
