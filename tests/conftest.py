"""Settings of the whole test suite."""

from hypothesis import settings

# compiled code takes seconds at its first call; the same examples on every run
settings.register_profile("isdp", deadline=None, derandomize=True)
settings.load_profile("isdp")
