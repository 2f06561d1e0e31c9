"""The verification of a release by a recipient, from its totals and its certificate."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from isdp.accounting import guarantee_from_record
from isdp.checks import INT64_MAX, check_choice
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.invariants_file import HeldTotals, group_names, read_invariants
from isdp.commands.shared.noise_levels import NoiseLevels, TableLevels
from isdp.commands.shared.table import Table, read_table
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.io.certificate import FORMAT
from isdp.io.csv_files import whole_numbers
from isdp.io.files import read_bytes, sha256_of
from isdp.io.tables import read_columns
from isdp.io.wording import counted
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import NORMS, GeneralizedLaplace

MAX_SHOWN = 5
TOTALS = "a CSV file with the columns name and total"


class Finding(NamedTuple):
    """The result of the comparison of one item. The compared values are in `detail`."""

    item: str
    holds: bool
    detail: str


def check(
    noisy_path: str | Path,
    invariants_path: str | Path,
    *,
    totals_path: str | Path | None = None,
    certificate_path: str | Path | None = None,
    count: str = "count",
    names: list[str] | None = None,
) -> list[Finding]:
    """Verify a noisy table.

    Parameters
    ----------
    noisy_path : path
        The table, whose counts may be negative.
    invariants_path : path
        The file of invariants of the release.
    totals_path : path, optional
        Published totals, such as `totals.csv` of the release, with the columns `name` and `total`.
        Held totals that the file does not name are not compared, and their number is reported.
    certificate_path : path, optional
        The certificate in JSON.

    Raises
    ------
    InputError
        If a file cannot be read, or neither totals nor a certificate is given.
    """
    if totals_path is None and certificate_path is None:
        raise InputError("--totals, --certificate: neither is given. Give one or both.")
    for path in (noisy_path, certificate_path):
        # for a certificate, both files are read twice
        if path and certificate_path and Path(path).exists() and not Path(path).is_file():
            raise InputError(f"{path}: this is not a regular file. Save it to a file first.")
    if certificate_path is not None:
        _refuse_another_command(read_certificate(certificate_path), Path(certificate_path))
    table = read_table(noisy_path, count, names, negative=True)
    rules = read_bytes(invariants_path)
    held = read_invariants(invariants_path, table, rules)
    found = []
    if totals_path is not None:
        found.append(_totals(table, held, totals_path))
    if certificate_path is not None:
        certificate = read_certificate(certificate_path)
        found += _certified(certificate, table, held, rules, Path(certificate_path))
    return found


def _totals(table: Table, held: list[HeldTotals], path: str | Path) -> Finding:
    wanted = read_totals(path)
    if int(abs(table.counts).max()) * len(table) > INT64_MAX:
        raise InputError(
            f"{table.path}: sums of these counts could overflow 64-bit integers. Correct the "
            f"counts."
        )
    wrong, compared, missing = [], 0, 0
    for one in held:
        for name, total in zip(group_names(table, one), one.sums(table.counts), strict=True):
            if name not in wanted:
                missing += 1
                continue
            compared += 1
            if wanted.pop(name) != total:
                wrong.append(repr(name))
    if wanted:
        raise InputError(
            f"{path}: {next(iter(wanted))!r} is not a held total. Use the names in totals.csv of "
            f"the release, such as {group_names(table, held[0])[0]!r}."
        )
    if not compared:
        raise InputError(f"{path}: no held total is named. Use totals.csv of the release.")
    left = f", {missing:,} are not named there" if missing else ""
    detail = f"{counted(compared, 'total')} compared in integers{left}"
    if wrong:
        more = "; ..." if len(wrong) > MAX_SHOWN else ""
        differ = counted(len(wrong), "of them differs", "of them differ")
        detail += f"; {differ}: {', '.join(wrong[:MAX_SHOWN])}{more}"
    return Finding("totals", not wrong, detail)


def read_totals(path: str | Path) -> dict[str, int]:
    """Read a CSV file with the columns `name` and `total`, such as `totals.csv` of a release."""
    columns = read_columns(path, TOTALS)
    for name in ("name", "total"):
        if name not in columns:
            raise InputError(f"{path}: there is no column {name!r}. Give {TOTALS}.")
    names = columns["name"]
    numbers = whole_numbers(
        columns["total"],
        lambda row: f"{path}: row {row + 1} ({names.text(row)}), column 'total'",
        "Totals must be whole numbers of at most 18 digits.",
        max_magnitude=10**18 - 1,
        negative=True,
    )
    totals: dict[str, int] = {}
    for name, total in zip(names.rows(), numbers.tolist(), strict=True):
        if name in totals:
            raise InputError(f"{path}: {name!r} is repeated. Remove one of the two rows.")
        totals[name] = total
    return totals


def read_certificate(path: str | Path) -> dict[str, Any]:
    """Read a certificate in JSON.

    Raises
    ------
    InputError
        If the file is not a certificate, or its format is unknown.
    """
    raw = read_bytes(path)
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        words = " ".join(str(error).split())
        raise InputError(
            f"{path}: this is not a JSON file ({words[:80]}). Give certificate.json of a release."
        ) from None
    if not isinstance(content, dict) or not str(content.get("made_by", "")).startswith("isdp "):
        raise InputError(
            f"{path}: this is not a certificate of isdp. Give certificate.json of a release."
        )
    if content.get("format", "0.2") not in ("0.2", FORMAT):
        raise InputError(
            f"{path}: the format {content['format']!r:.20} is unknown. This version of isdp reads "
            f"the formats 0.2 and {FORMAT}. Install a newer version."
        )
    return content


def _part(certificate: Any, *keys: str) -> Any:
    for key in keys:
        certificate = certificate.get(key) if isinstance(certificate, dict) else None
    return certificate


def _certified(
    certificate: dict[str, Any], table: Table, held: list[HeldTotals], rules: bytes, path: Path
) -> list[Finding]:
    free = find_degrees_of_freedom(held)
    sums = [{"name": one.name, "totals": one.totals} for one in held]
    certified = _part(certificate, "invariants")
    certified = certified if isinstance(certified, list) else []
    pairs = {
        "sha256 of the noisy table": (("output", "sha256"), sha256_of(table.path)),
        "sha256 of the invariants": (
            ("input", "invariants_sha256"),
            hashlib.sha256(rules).hexdigest(),
        ),
        "cells": (("input", "cells"), len(table)),
        "columns": (("input", "published_as_they_are"), list(table.columns)),
        "negative counts": (("output", "negative_counts"), int((table.counts < 0).sum())),
        "degrees of freedom": (("lattice", "degrees_of_freedom"), int(free.degrees)),
        "determined cells": (("lattice", "cells_without_freedom"), len(free.determined)),
        "counts revealed modulo m": (("residues", "cells"), len(free.revealed_residues)),
    }
    found = [_compared(item, _part(certificate, *keys), x) for item, (keys, x) in pairs.items()]
    listed = [{key: _part(one, key) for key in ("name", "totals")} for one in certified]
    found.append(
        Finding("totals that are said to be held", listed == sums, counted(len(sums), "set"))
    )
    if certificate.get("levels"):
        found.append(_loss_of_levels(certificate, table, free.invariants))
    others = _part(certificate, "output", "others_sha256")
    for name, digest in others.items() if isinstance(others, dict) else ():
        other = table.path.parent / Path(name).name
        if other.is_file():
            found.append(_compared(f"sha256 of {other.name}", digest, sha256_of(other)))
    return found


def _loss_of_levels(certificate: dict[str, Any], table: Table, invariants: Invariants) -> Finding:
    """Compute the privacy loss of the certified terms again under the held totals."""
    item = "privacy loss of the levels"
    try:
        mechanism = _levels(certificate, table).certified(_part(certificate, "levels", "terms"))
        guarantee = mechanism.guarantee_of(invariants)
    except InputError as wrong:
        return Finding(item, False, str(wrong))
    certified = _part(certificate, "mechanism", guarantee.parameter)
    return _compared(item, certified, str(guarantee.loss))


def read_noise(
    noisy_path: str | Path,
    invariants_path: str | Path,
    certificate_path: str | Path,
    *,
    count: str = "count",
    names: list[str] | None = None,
) -> tuple[Mechanism, Invariants]:
    """Read the noise distribution of a release, for an analysis of its noisy table.

    The cells of the distribution are the rows of the noisy table, in their order.

    Returns
    -------
    tuple of Mechanism and Invariants
        The noise has the distribution of this mechanism under these invariants. Both determine the
        guarantee, `log_weight` and the variances of sums.

    Raises
    ------
    InputError
        If a file is invalid, or the certificate is not from `isdp privatize`.
    """
    table = read_table(noisy_path, count, names, negative=True)
    held = read_invariants(invariants_path, table)
    certificate = read_certificate(certificate_path)
    _refuse_another_command(certificate, Path(certificate_path))
    try:
        mechanism = _mechanism(certificate, table)
    except InputError as wrong:
        raise InputError(f"{certificate_path}: {wrong}") from None
    return mechanism, find_degrees_of_freedom(held).invariants


def _mechanism(certificate: dict[str, Any], table: Table) -> Mechanism:
    if certificate.get("levels"):
        return _levels(certificate, table).certified(_part(certificate, "levels", "terms"))
    content = certificate.get("mechanism")
    loss = guarantee_from_record(content if isinstance(content, dict) else {}).loss
    if _part(content, "flavour") == "zCDP":
        return GeneralizedGaussian(rho=Fraction(loss))
    return GeneralizedLaplace(Fraction(loss), check_choice("norm", _part(content, "norm"), NORMS))


def _levels(certificate: dict[str, Any], table: Table) -> TableLevels:
    levels, groups = (_part(certificate, "levels", key) for key in ("levels", "groups"))
    if not isinstance(levels, list) or not isinstance(groups, list | None):
        raise InputError("certificate: the levels are invalid. Use an unchanged certificate")
    of_groups = None if groups is None else tuple(map(str, groups))
    return TableLevels(NoiseLevels(tuple(map(str, levels)), of_groups), table)


def _refuse_another_command(certificate: dict[str, Any], path: Path) -> None:
    if certificate["made_by"] != "isdp privatize":
        raise InputError(
            f"{path}: this certificate is made by {certificate['made_by']!r}, whose releases are "
            f"not checked. Give a certificate of isdp privatize."
        )


def _compared(item: str, certified: object, here: object) -> Finding:
    if certified == here:
        return Finding(item, True, f"{here}")
    detail = f"the certificate says {certified!r:.80}, here it is {here!r:.80}"
    return Finding(item, False, detail)
