"""Settings of the whole test suite."""

import signal

from hypothesis import settings

# a shell has what it starts in the background ignore it, and tests wait for what it ends
signal.signal(signal.SIGINT, signal.default_int_handler)
# compiled code takes seconds at its first call; the same examples on every run
settings.register_profile("isdp", deadline=None, derandomize=True)
settings.load_profile("isdp")
