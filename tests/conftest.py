"""Settings of the whole test suite."""

import os
import signal

from hypothesis import settings

from reproduction.running.compiled import cache_folder

# a shell has what it starts in the background ignore it, and tests wait for what it ends
signal.signal(signal.SIGINT, signal.default_int_handler)
# before numba is first imported: compiled code of other sources is never taken
os.environ["NUMBA_CACHE_DIR"] = str(cache_folder())
# compiled code takes seconds at its first call; the same examples on every run
settings.register_profile("isdp", deadline=None, derandomize=True)
settings.load_profile("isdp")
