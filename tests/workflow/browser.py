"""Pages in a headless Chromium: one run of the browser opens each in a frame and asks questions."""

import html
import json
import re
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"),
    # the frame's page is asked from this one; what is written to the console goes to stderr
    *("--allow-file-access-from-files", "--enable-logging=stderr"),
    "--virtual-time-budget=100000",
)
HARNESS = """<!doctype html><title>harness</title><iframe></iframe><script>
const frame = document.querySelector("iframe"), found = [];
const pause = time => new Promise(done => setTimeout(done, time));
const widths = sources => Promise.all(sources.map(source => new Promise(done => {
  const image = new Image();  // of a broken picture the width is 0
  image.onload = image.onerror = () => done(image.naturalWidth);
  image.src = source;
})));
(async () => {
  for (const [url, width, question] of QUESTIONS) {
    frame.width = width;
    frame.height = 800;
    console.info("opened " + found.length);
    await new Promise(done => { frame.onload = done; frame.src = url; });
    await pause(100);  // timers that the page has set go off first
    const page = frame.contentWindow;
    Object.assign(page, {pause, widths});
    found.push(await page.eval(question).catch(error => String(error)));
  }
  document.body.textContent = JSON.stringify(found);
})();
</script>"""


def find_browser():
    """Path of a Chromium on this machine, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def ask(folder, questions):
    """Open each page in a frame of a width, and give the answers and what the console shows.

    A question is the address of a page, a width in pixels, and a JavaScript expression whose
    promise gives the answer. It may call `pause` and `widths` of the harness.
    """
    page = folder / "harness.html"
    page.write_text(HARNESS.replace("QUESTIONS", json.dumps(questions)))
    command = [find_browser(), *FLAGS, f"--user-data-dir={folder / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    body = re.search(r"<body>(\[.*\])</body>", done.stdout, re.DOTALL)
    assert body, done.stdout[-500:] + done.stderr[-2000:]
    consoles = re.split(r'CONSOLE.*?"opened \d+"', done.stderr)[1:]
    shown = [re.findall(r'CONSOLE.*?\] (".*)', each) for each in consoles]
    return list(zip(json.loads(html.unescape(body[1])), shown, strict=True))
