"""Versions of packages for certificates."""

from importlib.metadata import version

from isdp import __version__


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of this library and of other packages by name.

    The version of this library is that of the running code. The metadata of an editable
    installation can be out of date.
    """
    return {"isdp": __version__} | {package: version(package) for package in packages}
