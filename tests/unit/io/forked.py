"""Run commands in forks of one process that has loaded what they need, each ended by a signal.

A line of JSON for each run: the arguments, a file for what the command says, the signal, and before
which of its calls to the file system it comes (counted from 0; below 0: never). The exit status is
printed. What is said ends with the number of calls, where the command ends by itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback

from isdp.cli import main

CALLS = ("open", "os.", "shutil.", "fcntl.")  # names of audit events


def run(arguments: list[str], said: str, number: int, at: int) -> int:
    """Run a command in a fork of this process; return the status that it ends with."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code, calls = 1, 0

    def count(event: str, _) -> None:
        nonlocal calls
        if event.startswith(CALLS):
            calls += 1
            if calls == at + 1:
                os.kill(os.getpid(), number)

    try:
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.addaudithook(count)
        code = main(arguments)
        print("calls:", calls, file=sys.stderr)
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for warming in json.loads(sys.argv[1]):
        main(warming)
    for line in sys.stdin:
        print(run(*json.loads(line)), file=answers, flush=True)
