"""Snakemake's command, without the seconds that it takes to load Snakemake and other libraries.

Run as a program, this loads them, and forks for each command that it is told. The command has a
process, a folder, an environment and a console of its own, and loads the rules and our packages. It
forks again for the script of each job, where Snakemake would start Python.
"""

import atexit
import gc
import importlib
import json
import os
import resource
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import nullcontext
from functools import cache
from pathlib import Path

# of what Snakemake, our rules and our scripts load, all that takes long and is not ours
LOADED = (
    "arviz_stats.base",
    "flint",
    "h5netcdf",
    "jsonschema",
    "matplotlib.backends.backend_svg",
    "matplotlib.pyplot",
    "numba.typed",
    "pandas",
    "scipy.fft",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.stats",
    "smart_open",
    "xarray",
)


def run(arguments, folder, environment, seconds, largest=-1):
    """Run `snakemake` with some arguments, for so many seconds at most; see subprocess.run.

    No file may grow larger than so many bytes; -1 is no limit.
    """
    program = _started()
    with tempfile.TemporaryDirectory() as own:
        files = [Path(own) / name for name in ("stdout", "stderr")]
        consoles = [str(file) for file in files]
        order = [arguments, str(folder), environment, consoles, seconds, largest]
        program.stdin.write(json.dumps(order) + "\n")
        program.stdin.flush()
        status = int(program.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, *(f.read_text() for f in files))


@cache
def _started():
    program = subprocess.Popen(
        [sys.executable, __file__],
        # Snakemake gives a job one thread of the libraries that add up, and they are loaded here
        env=os.environ | {"PYTHONWARNINGS": "", "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(program.communicate)  # which ends its input, and so the program
    return program


def _become(arguments, folder, environment, consoles, seconds, largest):
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
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))


def _execute_script(self, fname, edit=False):
    """Execute a job's script in a fork, in place of `PythonScript.execute_script`."""
    from snakemake.benchmark import benchmarked

    sys.stdout.flush()
    sys.stderr.flush()
    job = os.fork()
    if job == 0:
        _be_script(fname)
    watched = nullcontext() if self.bench_record is None else benchmarked(job, self.bench_record)
    with watched:
        status = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
    if status:
        raise subprocess.CalledProcessError(status, [sys.executable, fname])


def _be_command(main):
    """Run Snakemake's `main` as a shell would, and end the process."""

    def whole():
        try:
            main()
        finally:
            atexit._run_exitfuncs()

    _end_after(whole)


def _be_script(fname):
    """Run a script as `python fname` would, and end the process."""
    sys.argv = [fname]
    _end_after(runpy.run_path, fname, run_name="__main__")


def _end_after(function, *arguments, **options):
    """Call a function, and end the process without taking down all that was loaded."""
    status = 1
    try:
        function(*arguments, **options)
        status = 0
    except SystemExit as end:
        status = end.code or 0
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # threads of the process that forked are not here to be waited for


if __name__ == "__main__":
    for library in LOADED:
        importlib.import_module(library)
    import numba
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from snakemake.cli import get_argument_parser, main
    from snakemake.script import PythonScript

    numba.njit(lambda: None)()  # which loads what each first call of compiled code needs
    figure = Figure()
    FigureCanvasAgg(figure)
    figure.text(0, 0, "word $x$")
    figure.draw_without_rendering()  # the same of fonts and formulas
    PythonScript.execute_script = _execute_script
    get_argument_parser()  # which loads the plugins
    gc.freeze()  # a collection would otherwise go through all of it in each process, and copy it
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(*json.loads(line))
            _be_command(main)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
