"""Settings of the whole test suite."""

import gc
import os
import signal

from hypothesis import settings

from reproduction.running.compiled import cache_folder

# what is made while tests are collected stays, and looking for what does not took a quarter of it
gc.disable()
# a shell has what it starts in the background ignore it, and tests wait for what it ends
signal.signal(signal.SIGINT, signal.default_int_handler)
# before numba is first imported: compiled code of other sources is never taken
os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())
# compiled code takes seconds at its first call; the same examples on every run
settings.register_profile("isdp", deadline=None, derandomize=True)
settings.load_profile("isdp")


def pytest_collection_finish():
    gc.freeze()  # nor need it be looked through while tests run
    gc.enable()
