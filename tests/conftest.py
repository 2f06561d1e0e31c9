"""Settings of the whole test suite."""

import gc
import os
import signal

import pytest
from hypothesis import settings

from reproduction.running.compiled import cache_folder

# a shell has what it starts in the background ignore it, and tests wait for what it ends
signal.signal(signal.SIGINT, signal.default_int_handler)
# before numba is first imported: compiled code of other sources is never taken
os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())
# compiled code takes seconds at its first call; the same examples on every run
settings.register_profile("isdp", deadline=None, derandomize=True)
settings.load_profile("isdp")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among modules and tests, all of which stay: it takes a third as long."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
