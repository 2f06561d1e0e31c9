"""Snakemake's command, without the seconds that it takes to load Snakemake and other libraries.

Run as a program, this loads them, and forks for each command that it is told. The command has a
process, a folder, an environment and a console of its own, and loads the rules and our packages.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

# what Snakemake and our rules load first thing
LOADED = ("flint", "jsonschema", "pandas", "scipy.sparse", "smart_open")


def run(arguments, folder, environment, seconds):
    """Run `snakemake` with some arguments, for so many seconds at most; see subprocess.run."""
    program = _started()
    with tempfile.TemporaryDirectory() as consoles:
        files = [Path(consoles) / name for name in ("stdout", "stderr")]
        order = [arguments, str(folder), environment, [str(file) for file in files], seconds]
        program.stdin.write(json.dumps(order) + "\n")
        program.stdin.flush()
        status = int(program.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, *(f.read_text() for f in files))


@cache
def _started():
    program = subprocess.Popen(
        [sys.executable, __file__],
        env=os.environ | {"PYTHONWARNINGS": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(program.communicate)  # which ends its input, and so the program
    return program


def _become(arguments, folder, environment, consoles, seconds):
    """Make of this process what a shell would have started."""
    for number, path in enumerate([os.devnull, *consoles]):
        file = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder  # as for `python -m`
    sys.argv[1:] = arguments
    signal.alarm(seconds)


if __name__ == "__main__":
    for library in LOADED:
        importlib.import_module(library)
    from snakemake.cli import get_argument_parser, main

    get_argument_parser()  # which loads the plugins
    gc.freeze()  # a collection would otherwise go through all of it in each process, and copy it
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(*json.loads(line))
            main()  # which ends the process
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
