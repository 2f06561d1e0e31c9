"""Laws by their names: what a file of draws says of its law, read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from isdp.errors import InputError
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.gaussian import GeneralizedGaussian
from isdp.mechanisms.laplace import GeneralizedLaplace

LAWS = (GeneralizedLaplace, GeneralizedGaussian)


def from_dict(content: Mapping, laws: Iterable[type[Mechanism]] = LAWS) -> Mechanism:
    """Build the law that `Mechanism.as_dict` described.

    Parameters
    ----------
    content : mapping
        `name` and the law's parameters.
    laws : iterable of classes
        The laws to look among; give your own to read a law of your own.

    Raises
    ------
    InputError
        If no law has that name, a parameter is missing, unknown or out of range.

    Examples
    --------
    >>> from_dict({"name": "generalized Laplace", "epsilon": 0.5, "norm": "l2"})
    GeneralizedLaplace(epsilon=0.5, norm='l2')
    """
    known = {law.name: law for law in laws}
    parameters = dict(content)
    law = known.get(parameters.pop("name", None))
    if law is None:
        raise InputError(
            f"law: {content.get('name')!r} is not one of {', '.join(known)}; give its name"
        )
    wanted = {field.name for field in fields(law)}
    if set(parameters) != wanted:
        raise InputError(
            f"law: the {law.name} has the parameters {', '.join(sorted(wanted))}, got "
            f"{', '.join(sorted(parameters)) or 'none'}"
        )
    return law(**parameters)
