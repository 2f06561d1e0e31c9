"""Other libraries, each in a process of its own that is asked for one measurement at a time."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parent / ".venv-bench"


class Peer:
    """A script that answers a line of JSON with a line of JSON."""

    def __init__(self, script, python):
        self.process = subprocess.Popen(
            [str(python), str(HERE / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.version = self._answer()["version"]

    def ask(self, **request):
        """Return the answer to one request."""
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return self._answer()

    def close(self):
        """End the script."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[1]} ended without an answer")
        return json.loads(line)


def open_peer(script, environment=ENVIRONMENT):
    """Start a peer; None, and a line that says so, if its environment does not have it."""
    python = environment / "bin" / "python"
    try:
        return Peer(script, python)
    except (OSError, RuntimeError) as problem:
        print(
            f"{script}: cannot be run ({problem}); its rows stay blank. "
            f"`make bench` sets its environment up where a package index can be reached.",
            file=sys.stderr,
        )
        return None
