"""The errors that are meant for people."""


class InputError(ValueError):
    """Something the user gave is wrong; the one-line message says what, where and what to do."""


class NoSamplerError(InputError):
    """No exact sampler of the requested noise is practical under the given invariants.

    What each sampler would take is in the notes of the exception (`BaseException.add_note`).
    """


class MisfitError(InputError):
    """A sampler does not draw such noise at all, however much time it has."""
