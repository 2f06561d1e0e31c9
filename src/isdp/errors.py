"""Exceptions with messages for users."""


class InputError(ValueError):
    """Invalid input. The message has one line and states the place, the problem and a remedy."""


class NoSamplerError(InputError):
    """No exact sampler of the requested noise is practical under the given invariants.

    The notes of the exception (``__notes__``) state the cost of each sampler.
    """


class MisfitError(InputError):
    """The sampler does not support this noise distribution."""
