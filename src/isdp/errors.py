"""The error that is meant for people."""


class InputError(ValueError):
    """Something the user gave is wrong; the one-line message says what, where and what to do."""
