"""Certificates in Markdown: one form for all commands, from the content of `certificate.json`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache

from isdp.accounting.guarantees import upper_decimal

FORMAT = "0.3"  # of certificates; those of version 0.2 have no such field
NOT_FOR_RELEASE = "NOT FOR RELEASE: drawn from a pseudo-random generator, for experiments"
FOR_RELEASE = "drawn in exact arithmetic from the operating system's randomness"
OF_THE_LAW_ALONE = "for the requested distribution, and not for this draw"
NO_GUARANTEE = (
    "No guarantee holds for this table. A pseudo-random generator can reveal the noise, as can "
    "floating point arithmetic, and a Markov chain has only approximately the requested "
    "distribution. The stated privacy loss is that of the requested distribution."
)
SEED_KNOWN = "A reader who has the seed can remove the noise: nothing is protected."


def now() -> str:
    """Return the time in UTC, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0).isoformat()


def markdown(certificate: Mapping) -> str:
    """Return a certificate in Markdown.

    Parameters
    ----------
    certificate : mapping
        Content of `certificate.json`. The template is that of the command in `made_by`.
    """
    command = certificate["made_by"].removeprefix("isdp ")
    return _environment().get_template(f"{command}.md.jinja").render(certificate)


def certificate_files(certificate: dict, **output: object) -> dict[str, str | Mapping]:
    """Complete the output section of a certificate, and return the content of both of its files."""
    certificate["output"] |= output
    return {"certificate.json": certificate, "certificate.md": markdown(certificate)}


def said_of_privacy(statement: str, for_release: bool) -> str:
    """Return a guarantee in words, with a reservation if the table is not for release."""
    return statement if for_release else f"{OF_THE_LAW_ALONE}: {statement}"


@cache
def _environment():
    from jinja2 import Environment, PackageLoader, StrictUndefined  # needed for a release alone

    found = Environment(
        loader=PackageLoader("isdp.io"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown
    )
    found.filters |= {
        "cell": lambda text: text.replace("|", "/"),  # of a table
        "number": "{:,}".format,
        "percent": "{:.1%}".format,
        "upper_bound": upper_decimal,
        "said_of_privacy": said_of_privacy,
    }
    return found
