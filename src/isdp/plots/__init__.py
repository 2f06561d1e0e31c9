"""Figures of noise, distributions and errors, which need the extra `plots`."""


def can_draw() -> bool:
    """Return True if matplotlib is installed and can be imported."""
    try:
        import matplotlib.figure  # noqa: F401
    except Exception:  # for example, ValueError for an unknown MPLBACKEND
        return False
    return True
