"""A headless Chromium, driven by the DevTools protocol over two pipes: no port, no driver."""

import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
STAYS_HERE = ("file:", "data:", "blob:", "about:")


def find_browser():
    """Path of a Chromium on this machine, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One browser with one page at a time.

    Attributes
    ----------
    errors : list of str
        What the page put on the console as an error, or threw.
    requests : list of str
        Every address that the page asked for.
    """

    def __init__(self, profile):
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        self.process = subprocess.Popen(
            # the protocol is spoken on descriptors 3 and 4
            [
                "bash",
                "-c",
                f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}',
                find_browser(),
                *FLAGS,
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.pending, self.last, self.session = b"", 0, None
        self.errors, self.requests, self.loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """Call a method of the protocol and wait for its answer."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, url):
        """Open an address, and wait until it and its pictures have loaded."""
        self.errors, self.requests, self.loaded = [], [], False
        failed = self.call("Page.navigate", url=url).get("errorText")
        if failed:
            raise RuntimeError(f"{url}: {failed}")
        while not self.loaded:
            self._next()

    def resize(self, width, height):
        """Give the page a window of so many pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def evaluate(self, expression):
        """Value of a JavaScript expression in the page; promises are awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, expression, seconds=10):
        """Wait until a JavaScript expression is true."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            time.sleep(0.05)

    def abroad(self):
        """Requests that would have left this machine."""
        return [url for url in self.requests if not url.startswith(STAYS_HERE)]

    def close(self):
        """End the browser."""
        self.session = None
        self.call("Browser.close")
        self.process.wait(timeout=20)
        os.close(self.write)
        os.close(self.read)

    def _next(self, seconds=60):
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.read], [], [], seconds)
            piece = os.read(self.read, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("the browser does not answer")
            self.pending += piece
        text, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, params):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(json.dumps(params["args"])[:500])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(params["url"])
