"""A record of each job of a run: what its script is given, and the random streams that it takes.

Python imports this module at start where its folder is on the search path.
"""

import atexit
import importlib.abc
import importlib.util
import inspect
import os
import pickle
import sys
from pathlib import Path

STREAMS = []


class Watched(importlib.abc.MetaPathFinder):
    """Notes the names of every stream, once `isdp.streams` is imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "isdp.streams":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            stream = module.stream

            def noted(*args, **kwargs):
                given = inspect.signature(stream).bind(*args, **kwargs)
                given.apply_defaults()
                STREAMS.append(given.args)
                return stream(*args, **kwargs)

            module.stream = noted

        spec.loader.exec_module = exec_module
        return spec


def record():
    given = getattr(sys.modules["__main__"], "snakemake", None)
    if given is not None:
        script = Path(given.scriptdir) / Path(sys.argv[0]).name.partition(".")[2]
        job = {"script": str(script.resolve()), "streams": STREAMS, "given": given}
        name = Path(given.log[0]).with_suffix(".pickle").name
        (Path(os.environ["JOB_RECORDS"]) / name).write_bytes(pickle.dumps(job))


if "JOB_RECORDS" in os.environ:
    sys.meta_path.insert(0, Watched())
    atexit.register(record)
