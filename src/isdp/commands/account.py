"""The total privacy loss of several releases, and the cells that their totals together reveal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isdp.accounting import PrivacyGuarantee, as_fraction, compose, guarantee_from_record
from isdp.accounting import as_zcdp as convert_to_zcdp
from isdp.accounting.conversions import convert
from isdp.accounting.guarantees import Number, upper_product
from isdp.accounting.loss_distributions import Loss, PureLoss, compose_losses, gaussian_loss
from isdp.arrays import IntArray
from isdp.commands.check import read_certificate
from isdp.commands.disclosure.protection import facts_of_totals, protection_sentences
from isdp.commands.shared.degrees_of_freedom import DegreesOfFreedom, find_degrees_of_freedom
from isdp.commands.shared.guarantee import DETERMINED, NO_SINGLE_MOVE, person_distance
from isdp.commands.shared.invariants_file import HeldTotals, read_invariants
from isdp.commands.shared.opening import CONVERSION
from isdp.commands.shared.request import DELTA, parse_delta, units_of_distance
from isdp.commands.shared.table import describe_cells
from isdp.errors import InputError
from isdp.exact.disjoint.privacy_losses import loss_of_move
from isdp.io.files import read_bytes
from isdp.io.tables import ROW_PER_CELL, read_columns
from isdp.lattice.shortest_vectors import Metric
from isdp.mechanisms.base import Energy
from isdp.mechanisms.crossing import EXCHANGE
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import NORMS, GeneralizedLaplace

UNLIKE_TOTALS = (
    "the totals of these releases may together force a larger distance for one person; give "
    "--cells and --invariants"
)
MOVES_ALONE = (
    "two tables that agree in the totals of all releases and differ by one person who changes cell "
    "alone"
)
MOVE = 2  # l1 distance and squared l2 distance of one person who changes cell alone
# sections of a certificate that may contain the privacy guarantee
PLACES = ("guarantee", "mechanism", "privacy")
EXACT_SOURCE = "composition of the privacy loss distributions"
MIN_GAIN = 1e-3  # minimum relative gain of the exact epsilon over the other bound


class RevealedCells(NamedTuple):
    """Cells that the totals of several releases determine or reveal together.

    Attributes
    ----------
    newly_determined : list of str
        Names of the cells in `determined` that no single release determines.
    revealed_residues : list of str
        Cells such as "d modulo 2". All totals together reveal the count of the cell modulo a larger
        number than each release alone.
    distance : int or None
        The upper bound of `isdp.commands.shared.guarantee.person_distance` under all totals. It is
        an l1 distance if all losses are per unit of l1 distance. Otherwise it is a squared l2
        distance, which is at least the l1 distance.
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
        release. The guarantee has no loss per person if the smallest distance under all totals is
        not known.
    experiments : list of str
        Certificates of tables that are not for release.
    together : RevealedCells or None
        The cells that all totals together reveal, or None if the totals were not given.
    protection : list of str
        Sentences about the protection of the guarantee, and about facts that the totals reveal.
    converted : PrivacyGuarantee or None
        Epsilon at a delta for one person, converted from a zCDP guarantee.
    exact : PrivacyGuarantee or None
        Epsilon at the same delta, from the distributions of the privacy losses. It is None if the
        distribution of a release is not known, or if it is not below the epsilon of `guarantee` or
        `converted`.
    """

    guarantee: PrivacyGuarantee
    experiments: list[str]
    together: RevealedCells | None
    protection: list[str]
    converted: PrivacyGuarantee | None
    exact: PrivacyGuarantee | None


def account(
    certificate_paths: Sequence[str | Path],
    *,
    cells_path: str | Path | None = None,
    invariants_paths: Sequence[str | Path] = (),
    count: str = "count",
    names: list[str] | None = None,
    as_zcdp: bool = False,
    delta: float | str = DELTA,
) -> PrivacyAccount:
    """Compose the guarantees of several releases of the same data.

    Parameters
    ----------
    certificate_paths : sequence of path
        Two or more certificates in JSON.
    cells_path : path, optional
        A table with the cells of all releases, such as a noisy table. Its counts are ignored.
    invariants_paths : sequence of path
        The file of invariants of each release, in any order. Hashes match the files with the
        releases.
    as_zcdp : bool
        Convert each pure epsilon per person to a rho of epsilon^2 / 2.
    delta : float or str
        The delta at which epsilon is stated, by default 1e-10.

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
    at = parse_delta(delta)
    certificates = {str(path): read_certificate(path) for path in certificate_paths}
    _refuse_repeated(certificates, certificate_paths)
    guarantees = [_guarantee(path, one) for path, one in certificates.items()]
    found: RevealedCells | None = None
    held: list[DegreesOfFreedom | None] = [None] * len(certificates)
    totals: tuple[DegreesOfFreedom, list[HeldTotals]] | None = None
    if cells_path is not None or invariants_paths:
        if cells_path is None or not invariants_paths:
            raise InputError("--cells, --invariants: only one is given. Give both, or neither.")
        metric: Metric = "l1" if all(one.metric == "l1" for one in guarantees) else "squared l2"
        found, held, totals = _revealed_cells(
            certificates, cells_path, invariants_paths, count, names, metric
        )
    distance = _stated_distance(guarantees) if found is None else found.distance
    digests = [_entry(one, "input", "invariants_sha256") for one in certificates.values()]
    alike = digests[0] is not None and all(one == digests[0] for one in digests)
    certain = distance if alike or found is not None else None
    together = _compose(guarantees, certain, as_zcdp)
    if found is not None:
        together = _per_person(together, distance, guarantees)
    elif together.metric in NORMS and (
        not alike or len({one.per_person for one in guarantees} - {None}) > 1
    ):
        together = replace(together, per_person=None, why_not_per_person=UNLIKE_TOTALS)
    converted = None
    if together.flavour == "zCDP" and together.loss_per_person is not None:
        converted = convert(together, at, CONVERSION)
    losses = [
        _loss(certificate, guarantee, certain, None if free is None else free.blocks)
        for certificate, guarantee, free in zip(
            certificates.values(), guarantees, held, strict=True
        )
    ]
    experiments = [path for path, one in certificates.items() if one.get("for_release") is not True]
    facts = None if totals is None else facts_of_totals(together, *totals)
    return PrivacyAccount(
        together,
        experiments,
        found,
        protection_sentences(together, facts, not experiments),
        converted,
        _exact(losses, together, converted, at),
    )


def _stated_distance(guarantees: Sequence[PrivacyGuarantee]) -> int | None:
    """Return the l1 distance of one person, if all releases state the same distance."""
    stated = {one.per_person for one in guarantees if one.metric in NORMS}
    distance = stated.pop() if len(stated) == 1 else None
    return None if distance is None or distance != int(distance) else int(distance)


def _compose(
    guarantees: Sequence[PrivacyGuarantee], distance: int | None, as_zcdp: bool
) -> PrivacyGuarantee:
    """Add the losses, per person if they have different units.

    The distance is that of one person under the totals of all releases, or None if it is unknown.
    """
    counted = any(one.metric not in NORMS for one in guarantees)
    zcdp = as_zcdp and any(one.flavour == "pure" for one in guarantees)
    given = list(guarantees)
    if distance is not None and (distance in (1, MOVE) if counted else zcdp):
        given = [_for_one_person(one, distance) for one in guarantees]
    moves = all(
        (one.metric, one.per_person) == ("person", 1) and one.relation != EXCHANGE
        for one in guarantees
    )
    if moves and len({(one.relation, one.held) for one in guarantees}) > 1:
        given = [replace(one, relation=MOVES_ALONE, held="") for one in guarantees]
    if zcdp:
        given = [convert_to_zcdp(one) if one.flavour == "pure" else one for one in given]
    try:
        return compose(given)
    except InputError as refusal:
        words = f"account: {str(refusal).rstrip('.')}"
        if {one.flavour for one in guarantees} == {"pure", "zCDP"}:
            words = (
                "account: pure and zCDP losses are not added as they are. A pure epsilon per "
                "person counts as rho = epsilon^2 / 2. Add --as-zcdp"
            )
        if zcdp and distance is None:
            words = (
                "--as-zcdp: these losses can only be added per person, and the distance of one "
                "person under all totals is not known. Give --cells and --invariants"
            )
        units = dict.fromkeys(f"{one.flavour} per {one.unit:.80}" for one in guarantees)
        raise InputError(f"{words}. The releases have {', '.join(units)}.") from None


def _for_one_person(guarantee: PrivacyGuarantee, distance: int) -> PrivacyGuarantee:
    """Convert a loss per unit of distance into a loss per person."""
    if guarantee.metric not in NORMS:
        return guarantee
    farther = f" at the smallest distance that they force, {distance}" if distance > MOVE else ""
    return replace(
        guarantee,
        relation=f"{guarantee.relation}{farther}",
        metric="person",
        loss=upper_product(guarantee.loss, _units(guarantee, distance)),
        per_person=1,
        growth="none",
        why_not_per_person="",
    )


def _units(guarantee: PrivacyGuarantee, distance: int) -> Number:
    norm = guarantee.metric if guarantee.growth == "linear" else None
    return units_of_distance(norm, distance)


def _per_person(
    together: PrivacyGuarantee, distance: int | None, guarantees: Sequence[PrivacyGuarantee]
) -> PrivacyGuarantee:
    """State the loss per person at the distance that all totals force."""
    if any(one.metric not in NORMS for one in guarantees):
        if distance in (1, MOVE):
            return together
        return replace(together, per_person=None, why_not_per_person=NO_SINGLE_MOVE)
    if distance is None:
        return replace(together, per_person=None, why_not_per_person=DETERMINED)
    if together.metric not in NORMS:  # the losses were converted at this distance
        return together
    return replace(together, per_person=_units(together, distance), why_not_per_person="")


def _loss(
    certificate: dict[str, Any],
    guarantee: PrivacyGuarantee,
    distance: int | None,
    blocks: IntArray | None,
) -> Loss | None:
    """Return the distribution of the privacy loss of a release for one person, if it is known.

    If the totals are not given, or overlap, the distribution gives an upper bound for all totals.
    """
    norm = guarantee.metric if guarantee.metric in NORMS else None
    if norm is not None:
        if distance is None:
            return None
        guarantee = _for_one_person(guarantee, distance)
    loss = guarantee.loss_per_person
    if loss is None:
        return None
    scale = float(upper_product(loss, 1.0))
    name = _entry(certificate, "mechanism", "name")
    gaussian = name == GeneralizedGaussian.name and guarantee.flavour == "zCDP"
    laplace = name == GeneralizedLaplace.name and guarantee.flavour == "pure"
    try:
        if distance == MOVE and blocks is not None and (gaussian or (laplace and norm == "l1")):
            rate = as_fraction(loss) / MOVE
            return loss_of_move(Energy(2 if gaussian else 1, False, rate), blocks)
    except InputError:
        pass  # the grid of the distribution would be too large
    if guarantee.flavour == "pure":
        return PureLoss(scale)
    return gaussian_loss(scale, distance) if gaussian and distance is not None else None


def _exact(
    losses: Sequence[Loss | None],
    together: PrivacyGuarantee,
    converted: PrivacyGuarantee | None,
    delta: float,
) -> PrivacyGuarantee | None:
    """Compose the privacy losses, and return epsilon if it is smaller than the other bounds."""
    known = [one for one in losses if one is not None]
    other = together if converted is None else converted
    if len(known) < len(losses) or other.loss_per_person is None:
        return None
    try:
        epsilon = compose_losses(known, delta).epsilon(delta)
    except InputError:
        return None  # a loss is too large or too small for the grid
    if epsilon > (1 - MIN_GAIN) * float(other.loss_per_person):
        return None
    return replace(
        together,
        flavour="approximate",
        loss=epsilon,
        delta=delta,
        metric="person",
        per_person=1,
        growth="none",
        source=EXACT_SOURCE,
    )


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


def _entry(certificate: dict[str, Any], section: str, key: str) -> Any:
    """Return an entry of a section, or None if the certificate lacks it."""
    part = certificate.get(section)
    return part.get(key) if isinstance(part, dict) else None


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
) -> tuple[RevealedCells, list[DegreesOfFreedom | None], tuple[DegreesOfFreedom, list[HeldTotals]]]:
    """Return the cells that all totals reveal, and the degrees of freedom of each release.

    The third result has the degrees of freedom under all totals, and these totals.
    """
    path = Path(cells_path)
    table = describe_cells(path, read_columns(path, ROW_PER_CELL, (count,)), names, count)
    rules = {}
    for one in invariants_paths:
        raw = read_bytes(one)
        rules[hashlib.sha256(raw).hexdigest()] = read_invariants(one, table, raw)
    used, separate = [], []
    for name, certificate in certificates.items():
        digest, cells = (
            _entry(certificate, "input", key) for key in ("invariants_sha256", "cells")
        )
        if not isinstance(digest, str):
            raise InputError(
                f"{name}: this certificate names no file of invariants. With --cells and "
                f"--invariants, give only certificates of isdp privatize."
            )
        if digest not in rules:
            raise InputError(
                f"--invariants: no file has the hash of "
                f"{_entry(certificate, 'input', 'invariants')!r:.80} of {name}. Give the file of "
                f"invariants of each release."
            )
        if cells != len(table):
            raise InputError(
                f"{name}: the release has {cells!r:.20} cells, and {path} has {len(table):,}. Give "
                f"certificates of releases of the same cells."
            )
        used.append(digest)
        separate.append(find_degrees_of_freedom(rules[digest]))
    # least common multiple of the steps of all releases
    alone = np.ones(len(table), dtype=np.int64)
    for each in separate:
        alone = np.lcm(alone, each.steps)
    every = [one for digest in sorted(set(used)) for one in rules[digest]]
    free = find_degrees_of_freedom(every)
    distance = person_distance(free, metric)
    revealed = RevealedCells(
        [table.name(row) for row in free.determined],
        [table.name(row) for row in free.determined if alone[row] > 0],
        [
            f"{table.name(row)} modulo {free.steps[row]}"
            for row in free.revealed_residues
            if alone[row] != free.steps[row]
        ],
        None if distance is None else distance.upper,
    )
    return revealed, list(separate), (free, every)
