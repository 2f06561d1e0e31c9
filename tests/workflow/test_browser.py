"""The pages in a real headless browser: they open, show everything, and ask nobody."""

import json
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.workflow.browser import Browser, find_browser
from tests.workflow.conftest import NOTEBOOKS_LEFT_OUT

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="there is no Chromium on this machine"
)
# every picture in view, also in what the notebooks inline
PICTURES = """
Promise.all([...document.images].map(image => image.decode().catch(() => null))).then(() => [
  ...[...document.images].filter(image => !image.naturalWidth)
    .map(image => "img " + image.outerHTML.slice(0, 120)),
  ...[...document.querySelectorAll("math")]
    .filter(math => !(math.getBoundingClientRect().width > 0))
    .map(math => math.outerHTML.slice(0, 120)),
])
"""
LINKS = """
[...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href"))
  .map(written => [written, new URL(written, document.baseURI).href])
"""
# timers that the page has set go off first
SETTLE = "new Promise(done => setTimeout(done, 100))"
# what the report holds, of which it shows one at a time
REPORTED = """
Promise.all(Object.entries(results).filter(([, held]) => held.mime_type.startsWith("image/"))
  .map(async ([name, held]) => {
    const image = new Image();
    image.src = held.data_uri;
    await image.decode().catch(() => null);
    return [name, image.naturalWidth];
  }))
"""
CLICK = """
(words => {
  const found = [...document.querySelectorAll("a")].find(a => a.innerText.trim() === words);
  found?.click();
  return Boolean(found);
})"""
EYE = """
(kind => {
  const row = [...document.querySelectorAll("tr")].find(row => row.innerText.includes(kind));
  const eye = row?.querySelector("[iconname=eye]");
  eye?.click();
  return Boolean(eye);
})"""


# each link of the gallery: whether Tab reaches it, whether it has words, and where Enter leads
GALLERY = """
[...document.querySelectorAll(".gallery a")].map(link => {
  link.focus();
  const reached = document.activeElement === link && link.tabIndex === 0;
  link.click();
  const goal = document.querySelector(":target");
  const top = goal ? goal.getBoundingClientRect().top : NaN;
  return [link.innerText.trim(), reached, top >= -1 && top < innerHeight,
    link.querySelector("img").alt];
})
"""
# what stands out of the window sideways, and cannot be scrolled within its own box
TOO_WIDE = """
document.documentElement.scrollWidth > innerWidth
  ? [...document.body.querySelectorAll("*")]
      .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
      .map(each => each.outerHTML.slice(0, 120))
  : []
"""
FRONT_PAGE_WEIGHS = 5_000_000


@pytest.fixture(scope="module")
def browser():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        yield browser
        browser.close()


def broken_links(browser):
    """Links to files or places within pages that are not there."""
    broken = []
    for written, resolved in browser.evaluate(LINKS):
        address = urlsplit(resolved)
        if address.scheme != "file" or written == "#":
            continue
        path = Path(unquote(address.path))
        if path.stem in NOTEBOOKS_LEFT_OUT:
            continue  # the tests' checkout has no such notebook
        if not path.exists():
            broken.append(written)
        elif address.fragment and path.suffix == ".html":
            text, name = path.read_text(), unquote(address.fragment)
            if f'id="{name}"' not in text and f'name="{name}"' not in text:
                broken.append(written)
    return broken


def faults(browser, path):
    """Everything that is wrong with a page, as a list of words."""
    browser.open(path.as_uri())
    browser.evaluate(SETTLE)
    found = [f"picture: {words}" for words in browser.evaluate(PICTURES)]
    found += [f"link: {words}" for words in broken_links(browser)]
    if not browser.evaluate("document.body.innerText.trim().length"):
        found.append("the page is empty")
    found += [f"console: {words}" for words in browser.errors]
    return found + [f"request: {words}" for words in browser.abroad()]


def test_every_fault_would_be_seen(browser, tmp_path):
    (tmp_path / "there.html").write_text('<p id="spot">here</p>')
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<!doctype html><link rel="icon" href="data:,"><p>text</p>'
        '<img src="data:image/png;base64,AAAA"><math></math>'
        '<a href="gone.html">a</a><a href="there.html#spot">b</a><a href="there.html#away">c</a>'
        '<script>console.error("said"); setTimeout(() => { throw new Error("oh") })</script>'
        '<script src="http://127.0.0.1:9/far.js"></script>'
    )
    found = "\n".join(faults(browser, bad))
    for words in ("picture: img", "picture: <math", "link: gone.html", "link: there.html#away"):
        assert words in found
    assert found.count("link: ") == 2
    for words in ("said", "Error: oh", "request: http://127.0.0.1:9/far.js"):
        assert words in found
    assert faults(browser, tmp_path / "there.html") == []


def gallery_faults(browser, path):
    """What is wrong with the gallery of a front page, at the width of a phone and of a desk."""
    found = []
    for width in (390, 1280):  # and leaves the wide one to the tests that follow
        browser.resize(width, 800)
        browser.open(path.as_uri())
        links = browser.evaluate(GALLERY)
        found += [] if links else ["no gallery"]
        for words, reached, in_view, alt in links:
            if not (words and reached and in_view and alt):
                found.append(f"{width}: {words!r}, {alt!r}: {reached}, {in_view}")
        found += [f"{width}: too wide: {words}" for words in browser.evaluate(TOO_WIDE)]
    return found


def test_the_gallery_is_used_by_keyboard_and_on_a_phone(browser, finished, tmp_path):
    page = finished.folder / "results/index.html"
    assert gallery_faults(browser, page) == []
    assert page.stat().st_size < FRONT_PAGE_WEIGHS
    broken = page.read_text().replace('<a href="#figure-', '<a href="#gone-')
    (tmp_path / "broken.html").write_text(f'{broken}<p style="width:2000px">wide</p>')
    found = "\n".join(gallery_faults(browser, tmp_path / "broken.html"))
    assert "True, False" in found
    assert "390: too wide: <p" in found


def pages_of(results):
    top = [path for path in (results / "report.html", results / "index.html") if path.exists()]
    return [*top, results / "tables/scorecard.html", *sorted(results.glob("notebooks/*.html"))]


def test_every_page_opens_in_full_and_alone(browser, finished):
    results = finished.folder / "results"
    pages = pages_of(results)
    assert len(pages) >= 4
    assert {path.name: found for path in pages if (found := faults(browser, path))} == {}


def test_no_page_is_wider_than_a_phone(browser, finished, tmp_path):
    def too_wide(path):
        browser.open(path.as_uri())
        browser.evaluate(SETTLE)
        return browser.evaluate(TOO_WIDE)

    browser.resize(390, 800)
    try:
        pages = pages_of(finished.folder / "results")
        assert {path.name: found for path in pages if (found := too_wide(path))} == {}
        table = (finished.folder / "results/tables/scorecard.html").read_text()
        assert '<div class="wide"' in table
        (tmp_path / "wide.html").write_text(table.replace('<div class="wide"', "<div"))
        assert too_wide(tmp_path / "wide.html")
    finally:
        browser.resize(1280, 800)


def test_every_formula_is_rendered(browser, finished):
    with_formulas = 0
    for path in sorted(finished.folder.glob("notebooks/*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        browser.open((finished.folder / f"results/notebooks/{path.stem}.html").as_uri())
        assert "$" not in browser.evaluate("document.body.innerText"), path.name
        if "$" in text:
            with_formulas += 1
            count = browser.evaluate("document.querySelectorAll('math').length")
            assert count >= text.replace("$$", "$").count("$") // 2, path.name
    assert with_formulas


def test_the_report_shows_its_figures_and_tables_when_clicked(browser, finished):
    report = finished.folder / "results/report.html"
    rules = (finished.folder / "workflow/report/report.css").read_text()
    assert rules in report.read_text()
    browser.open(report.as_uri())
    # the beginning of a page that is longer than the window can be reached
    assert browser.evaluate(
        "document.querySelector('#app .prose').getBoundingClientRect().top >= 0"
    )
    widths = dict(browser.evaluate(REPORTED))
    assert "results/figures/truncation.svg" in widths
    assert [name for name, width in widths.items() if not width] == []
    for words in ("Counties", "Truncation at zero"):
        browser.wait_for(f"{CLICK}({json.dumps(words)})")
    browser.wait_for(f"{EYE}('figure')")
    browser.wait_for("[...document.images].some(i => i.naturalWidth > 200)")
    browser.wait_for(f"{EYE}('table')")
    browser.wait_for("document.querySelector('iframe')?.src.startsWith('data:text/html')")
    time.sleep(0.2)  # for whatever the table itself might ask for
    assert browser.errors == []
    assert browser.abroad() == []
