"""Versions that a certificate names."""

from importlib.metadata import version

from isdp import __version__


def versions(*packages: str) -> dict[str, str]:
    """Version of this library and of others, by name.

    Ours is that of the code that runs: what was recorded at an editable install may be older.
    """
    return {"isdp": __version__} | {package: version(package) for package in packages}
