"""The documents of a release: its certificate, data package and registry record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache

from isdp.accounting.guarantees import upper_decimal
from isdp.io.registry_record import registry_text

DOCUMENTS = ("certificate.json", "certificate.md", "datapackage.json", "registry.yaml")
FORMAT = "0.3"  # certificates of version 0.2 have no field `format`
NOT_FOR_RELEASE = "NOT FOR RELEASE: drawn from a pseudo-random generator, for experiments"
FOR_RELEASE = "drawn in exact arithmetic from the operating system's randomness"
DISTRIBUTION_ONLY = "for the requested distribution, and not for this draw"
NO_GUARANTEE = (
    "No guarantee holds for this table. A pseudo-random generator can reveal the noise, as can "
    "floating point arithmetic, and a Markov chain has only approximately the requested "
    "distribution. The stated privacy loss is that of the requested distribution."
)
NO_GUARANTEE_IN_SHORT = (
    "Nothing is protected, because the noise is for experiments. No guarantee holds for this table."
)
SEED_KNOWN = "A reader who has the seed can remove the noise: nothing is protected."


def now() -> str:
    """Return the current time in UTC, without fractions of a second."""
    return datetime.now(UTC).replace(microsecond=0).isoformat()


def markdown(certificate: Mapping) -> str:
    """Return the content of `certificate.json` in Markdown.

    The entry `made_by` determines the template.
    """
    command = certificate["made_by"].removeprefix("isdp ")
    return _environment().get_template(f"{command}.md.jinja").render(certificate)


def release_documents(
    certificate: dict, package: Mapping, **output: object
) -> dict[str, str | Mapping]:
    """Return the content of the files `DOCUMENTS`. An experiment has no registry record.

    Parameters
    ----------
    certificate : dict
        The entries `output` are added to its section "output".
    package : mapping
        The result of `isdp.io.data_package.data_package`.
    """
    certificate["output"] |= output
    found: dict[str, str | Mapping] = {
        "certificate.json": certificate,
        "certificate.md": markdown(certificate),
        "datapackage.json": package,
    }
    if certificate["for_release"]:
        found["registry.yaml"] = registry_text(certificate)
    return found


def qualify_statement(statement: str, for_release: bool) -> str:
    """Return the statement of a guarantee, with a qualification if the table is not for release."""
    return statement if for_release else f"{DISTRIBUTION_ONLY}: {statement}"


@cache
def _environment():
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("isdp.io"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # certificates are Markdown and not HTML
    )
    found.filters |= {
        "cell": lambda text: text.replace("|", "/"),  # a vertical bar would end the cell of a table
        "number": "{:,}".format,
        "percent": "{:.1%}".format,
        "upper_bound": upper_decimal,
        "qualify_statement": qualify_statement,
    }
    return found
