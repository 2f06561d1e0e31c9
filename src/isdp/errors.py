"""Errors with messages for users."""


class InputError(ValueError):
    """An invalid input; the one-line message states the place, the problem and the remedy."""


class NoSamplerError(InputError):
    """No exact sampler of the requested noise is practical under the given invariants.

    What each sampler would take is in the notes of the exception (`BaseException.add_note`).
    """


class MisfitError(InputError):
    """A sampler does not serve this form of noise, whatever the time."""
