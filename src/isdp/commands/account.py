"""The total privacy loss of several releases, and the cells that their totals together reveal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isdp.accounting import PrivacyGuarantee, compose, guarantee_from_record
from isdp.commands.check import read_certificate
from isdp.commands.shared.degrees_of_freedom import find_degrees_of_freedom
from isdp.commands.shared.guarantee import DETERMINED, NO_SINGLE_MOVE, person_distance
from isdp.commands.shared.invariants_file import read_invariants
from isdp.commands.shared.request import units_of_distance
from isdp.commands.shared.table import describe_cells
from isdp.errors import InputError
from isdp.io.csv_files import read_columns
from isdp.io.files import read_bytes
from isdp.lattice.shortest_vectors import Metric
from isdp.mechanisms.generalized_laplace import NORMS

UNLIKE_DISTANCES = (
    "the totals of these releases force different distances for one person; give --cells and "
    "--invariants"
)
MOVE = 2  # l1 distance and squared l2 distance of one person who changes cell alone
# sections of a certificate that may contain the privacy guarantee
PLACES = ("guarantee", "mechanism", "privacy")


class RevealedCells(NamedTuple):
    """Cells that the totals of several releases determine or reveal together.

    Attributes
    ----------
    newly_determined : list of str
        Names of the cells in `determined` that no single release determines.
    revealed_residues : list of str
        Cells whose counts all totals together reveal modulo a larger number than the separate
        releases do, such as "d modulo 2".
    distance : int or None
        The upper bound of `isdp.commands.shared.guarantee.person_distance` under all totals.
    """

    determined: list[str]
    newly_determined: list[str]
    revealed_residues: list[str]
    distance: int | None


class PrivacyAccount(NamedTuple):
    """The composition of several releases.

    Attributes
    ----------
    guarantee : PrivacyGuarantee
        The guarantee of all releases together, between tables that agree in the totals of every
        release. The guarantee has no loss per person if the distances of the releases differ, and
        the totals were not given.
    experiments : list of str
        Certificates of tables that are not for release.
    together : RevealedCells or None
        The cells that all totals together reveal, or None if the totals were not given.
    """

    guarantee: PrivacyGuarantee
    experiments: list[str]
    together: RevealedCells | None


def account(
    certificate_paths: Sequence[str | Path],
    *,
    cells_path: str | Path | None = None,
    invariants_paths: Sequence[str | Path] = (),
    count: str = "count",
    names: list[str] | None = None,
) -> PrivacyAccount:
    """Compose the guarantees of several releases of the same data.

    Parameters
    ----------
    certificate_paths : sequence of path
        Two or more certificates in JSON.
    cells_path : path, optional
        A table with the cells of all releases, such as a noisy table. Its counts are ignored.
    invariants_paths : sequence of path
        The file of invariants of each release, in any order. The files are matched by their hashes.

    Raises
    ------
    InputError
        If a release is repeated, the losses cannot be added, or the files do not belong to the
        releases.
    """
    if len(certificate_paths) < 2:
        raise InputError(
            "account: fewer than two certificates are given. Give two or more certificates."
        )
    certificates = {str(path): read_certificate(path) for path in certificate_paths}
    _refuse_repeated(certificates, certificate_paths)
    guarantees = [_guarantee(path, one) for path, one in certificates.items()]
    found = None
    if cells_path is not None or invariants_paths:
        if cells_path is None or not invariants_paths:
            raise InputError("--cells, --invariants: only one is given. Give both, or neither.")
        metric: Metric = "l1" if all(one.metric == "l1" for one in guarantees) else "squared l2"
        found = _revealed_cells(certificates, cells_path, invariants_paths, count, names, metric)
    digests = [one.get("input", {}).get("invariants_sha256") for one in certificates.values()]
    alike = len(set(digests)) == 1 and digests[0] is not None
    try:
        together = compose(_in_one_unit(guarantees, alike, found))
    except InputError as refusal:
        units = dict.fromkeys(f"{one.flavour} per {one.unit}" for one in guarantees)
        words = f"{str(refusal).rstrip('.')}. The releases have {', '.join(units)}."
        raise InputError(f"account: {words}") from None
    experiments = [path for path, one in certificates.items() if one.get("for_release") is not True]
    if found is not None:
        together = _per_person(together, found.distance)
    elif together.metric in NORMS and len({one.per_person for one in guarantees} - {None}) > 1:
        together = replace(together, per_person=None, why_not_per_person=UNLIKE_DISTANCES)
    return PrivacyAccount(together, experiments, found)


def _in_one_unit(
    guarantees: Sequence[PrivacyGuarantee], alike: bool, found: RevealedCells | None
) -> list[PrivacyGuarantee]:
    """Convert losses per distance into losses per person, if others are per person.

    The loss of a release per person is valid for all releases together if they hold the same
    totals, or if one person can change cell alone under all their totals. The conversion is
    otherwise not made.
    """
    metrics = {guarantee.metric for guarantee in guarantees}
    moves_alone = found is not None and found.distance in (1, MOVE)
    if len(metrics) == 1 or "person" not in metrics or not (alike or moves_alone):
        return list(guarantees)
    return [
        replace(one, metric="person", loss=one.loss_per_person, per_person=1, growth="none")
        if one.metric in NORMS and one.per_person == MOVE and one.loss_per_person is not None
        else one
        for one in guarantees
    ]


def _per_person(guarantee: PrivacyGuarantee, distance: int | None) -> PrivacyGuarantee:
    if guarantee.metric == "person":
        if distance in (1, MOVE):
            return guarantee
        return replace(guarantee, per_person=None, why_not_per_person=NO_SINGLE_MOVE)
    if distance is None:
        return replace(guarantee, per_person=None, why_not_per_person=DETERMINED)
    norm = guarantee.metric if guarantee.growth == "linear" else None
    return replace(guarantee, per_person=units_of_distance(norm, distance), why_not_per_person="")


def _refuse_repeated(certificates: dict[str, dict[str, Any]], paths: Sequence[str | Path]) -> None:
    seen: dict[str, str] = {}
    for path in map(str, paths):
        # the whole certificate is compared, because two noisy tables of few cells may be equal
        key = json.dumps(certificates[path], sort_keys=True)
        if key in seen:
            raise InputError(
                f"account: {seen[key]} and {path} are of the same release. Name each release once."
            )
        seen[key] = path


def _guarantee(path: str, certificate: dict[str, Any]) -> PrivacyGuarantee:
    for place in PLACES:
        record = certificate.get(place)
        if isinstance(record, dict) and "flavour" in record:
            try:
                return guarantee_from_record(record)
            except InputError as wrong:
                raise InputError(f"{path}: {wrong}") from None
    raise InputError(f"{path}: this certificate has no guarantee that can be added. Leave it out.")


def _revealed_cells(
    certificates: dict[str, dict[str, Any]],
    cells_path: str | Path,
    invariants_paths: Sequence[str | Path],
    count: str,
    names: list[str] | None,
    metric: Metric,
) -> RevealedCells:
    path = Path(cells_path)
    table = describe_cells(
        path, read_columns(path, "a csv with one row per cell", (count,)), names, count
    )
    rules = {}
    for one in invariants_paths:
        raw = read_bytes(one)
        rules[hashlib.sha256(raw).hexdigest()] = read_invariants(one, table, raw)
    # least common multiple of the steps of all releases
    alone = np.ones(len(table), dtype=np.int64)
    for name, certificate in certificates.items():
        given = certificate.get("input")
        given = given if isinstance(given, dict) else {}
        if given.get("invariants_sha256") not in rules:
            raise InputError(
                f"--invariants: no file has the hash of {given.get('invariants')!r:.80} of {name}. "
                f"Give the file of invariants of each release."
            )
        if given.get("cells") != len(table):
            raise InputError(
                f"{name}: the release has {given.get('cells')!r:.20} cells, and {path} has "
                f"{len(table):,}. Give certificates of releases of the same cells."
            )
        held = rules[given["invariants_sha256"]]
        alone = np.lcm(alone, find_degrees_of_freedom(held).steps)
    used = {certificate["input"]["invariants_sha256"] for certificate in certificates.values()}
    free = find_degrees_of_freedom([one for digest in sorted(used) for one in rules[digest]])
    distance = person_distance(free, metric)
    return RevealedCells(
        [table.name(row) for row in free.determined],
        [table.name(row) for row in free.determined if alone[row] > 0],
        [
            f"{table.name(row)} modulo {free.steps[row]}"
            for row in free.revealed_residues
            if alone[row] != free.steps[row]
        ],
        None if distance is None else distance.upper,
    )
