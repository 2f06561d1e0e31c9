"""From a table and the totals to hold to a noisy table and its certificate.

Nothing that comes from the noise drawn may be published beside the noisy table, as the two give
the confidential table: not its sum, nor its extremes, nor a checksum of the confidential file, by
which guesses could be confirmed. What is published is the noisy table, functions of it, and facts
about the law and the settings.
"""

from __future__ import annotations

import hashlib
import logging
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np

from isdp.checks import INT64_MAX
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact import choose, release, total_law
from isdp.exact.choice import LARGEST_DENSE
from isdp.exact.staged import StagedSampler
from isdp.io.files import whole, write_csv, write_json
from isdp.mechanisms.base import Mechanism
from isdp.privatize.certificate import describe, markdown
from isdp.privatize.tables import (
    Held,
    Table,
    freedom,
    invariants_of,
    read_bytes,
    read_invariants,
    read_table,
)
from isdp.seeds import stream

FILES = ("noisy.csv", "certificate.json", "certificate.md", "noisy.svg", "noisy.png")
CHAINS, BURN_IN, KEPT, THIN = 4, 2000, 1000, 5
LARGEST_RHAT, SMALLEST_ESS = 1.05, 100
BAND_DRAWS, MOST_CELLS_OF_BAND = 400, 200
FINEST = 0.1  # below this epsilon the law of one cell is a rescaled one, within 0.1 %
LEAST_ORDERED = 6  # rows; fewer may well be in some order by chance
LOG = logging.getLogger(__name__)
OPERATING_SYSTEM = "the operating system (os.urandom)"


@dataclass(frozen=True)
class Request:
    """What to draw, and where from.

    Attributes
    ----------
    mechanism : Mechanism
    epsilon : Fraction or None
        The same epsilon as a rational number, where the norm is l1.
    experiment : bool
        Whether floating point and a pseudo-random generator will do.
    seed : int or None
        Only for experiments.
    allow_mcmc : bool
        Whether a Markov chain will do; only for experiments.
    """

    mechanism: Mechanism
    epsilon: Fraction | None = None
    experiment: bool = False
    seed: int | None = None
    allow_mcmc: bool = False


@dataclass(frozen=True, eq=False)
class Drawn:
    """Noise, and what may be said of how it was drawn."""

    noise: np.ndarray
    sampler: dict
    spare: object = field(default=None)  # draws of the same law that are not released


def privatize(
    table_path, invariants_path, request: Request, out, *, count="count", names=None, force=False
) -> dict:
    """Write a noisy table that keeps the totals, with its certificate and picture.

    Parameters
    ----------
    table_path, invariants_path : path
    request : Request
    out : path
        Folder for `FILES`. They are written together at the end, or not at all.
    count : str
        The column of counts.
    names : list of str, optional
        The columns that name a cell.
    force : bool
        Whether to replace such files.

    Returns
    -------
    dict
        The certificate.

    Raises
    ------
    InputError
        If anything is wrong; nothing has been written then.
    """
    started = datetime.now(UTC).replace(microsecond=0).isoformat()
    out = Path(out)
    _check_out(out, [table_path, invariants_path], force)
    table = read_table(table_path, count, names)
    if _ordered(table.counts):
        LOG.warning(
            "%s: the rows are in the order of their counts, and their order is published; sort "
            "them by name, and run again with --force",
            table.path,
        )
    rules = read_bytes(invariants_path, "a YAML file of invariants")
    held = read_invariants(invariants_path, table, rules)
    invariants, blocks = invariants_of(held)
    free = None
    if blocks is not None or invariants.cells <= LARGEST_DENSE:
        free = freedom(invariants, blocks)
        if free.degrees == 0:
            raise InputError(
                f"{invariants_path}: these totals settle every cell, so that the table would be "
                f"published as it is; hold fewer"
            )
    drawn = draw(invariants, request)
    noisy = table.counts + drawn.noise
    checks = check_totals(held, table.counts, noisy)
    certificate = describe(
        table=table,
        rules=(Path(invariants_path).name, hashlib.sha256(rules).hexdigest()),
        checks=checks,
        free=free,
        nested=blocks is not None,
        request=request,
        sampler=drawn.sampler,
        negative=int((noisy < 0).sum()),
        started=started,
    )
    figure = _picture(table, noisy, invariants, blocks, request, drawn)
    _write(out, table, noisy, certificate, figure, force)
    return certificate


def _ordered(counts: np.ndarray) -> bool:
    """Whether the rows seem to be sorted by their counts, up or down."""
    steps = np.diff(counts)
    varied = len(np.unique(counts)) > 2 and len(counts) >= LEAST_ORDERED
    return bool(varied and ((steps >= 0).all() or (steps <= 0).all()))


def _check_out(out: Path, inputs: list, force: bool) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file; --out names a folder")
    for name in FILES:
        path = out / name
        if any(path.exists() and Path(given).exists() and path.samefile(given) for given in inputs):
            raise InputError(f"{path}: this input would be overwritten; choose another --out")
        if path.exists() and not force:
            raise InputError(
                f"{path}: is there already; --force replaces it, but each further release of the "
                f"same table costs epsilon again"
            )


# -- drawing -------------------------------------------------------------------------------------


def draw(invariants: Invariants, request: Request) -> Drawn:
    """Draw noise once, in exact arithmetic unless it is for experiments.

    Raises
    ------
    InputError
        If no sampler that the request allows can do it.
    """
    if not request.experiment:
        return _draw_for_release(invariants, request)
    rng = np.random.default_rng()
    source = "pseudo-random generator PCG64, seeded by the operating system"
    if request.seed is not None:
        rng = stream(request.seed, "privatize")
        source = f"pseudo-random generator PCG64, seed {request.seed}"
    try:
        sampler = choose(invariants, request.mechanism)
    except InputError as refusal:
        if not request.allow_mcmc:
            raise InputError(
                f"{refusal}; --allow-mcmc draws by a Markov chain, with a convergence error of "
                f"unknown size"
            ) from None
        return _draw_by_chain(rng, source, invariants, request.mechanism, str(refusal))
    how = {
        "method": sampler.method,
        "reason": sampler.reason,
        "error_bound": sampler.error,
        "error_words": (
            "bound of the total variation distance to the law, truncation and rounding together"
        ),
        "arithmetic": "floating point",
        "randomness": source,
    }
    return Drawn(sampler.sample(rng, 1)[0], how, sampler)


def _draw_for_release(invariants: Invariants, request: Request) -> Drawn:
    if request.epsilon is None:
        raise InputError(
            "only l1 noise can be drawn in exact arithmetic; use --norm l1, or --for-experiments "
            "for floating point and a pseudo-random generator"
        )
    try:
        noise = release(invariants, request.epsilon)[0]
    except InputError as refusal:
        raise InputError(
            f"{refusal}; this is the only sampler for a release (--for-experiments allows others)"
        ) from None
    how = {
        "method": "isdp.exact.release",
        "reason": "exact integer and ball arithmetic decides every draw",
        "error_bound": 0,
        "error_words": "the noise has the law itself, without truncation, rounding or convergence",
        "arithmetic": "exact",
        "randomness": OPERATING_SYSTEM,
    }
    return Drawn(noise, how)


def _draw_by_chain(
    rng: np.random.Generator,
    source: str,
    invariants: Invariants,
    mechanism: Mechanism,
    refusal: str,
) -> Drawn:
    """Draw by a chain of its own, and take the evidence from others, run in the same way."""
    from isdp.diagnostics.chains import convergence
    from isdp.mcmc.metropolis import sample

    if invariants.cells > LARGEST_DENSE:
        raise InputError(
            f"privatize: {invariants.cells} cells under totals that overlap are too many for a "
            f"Markov chain as well; it takes at most {LARGEST_DENSE}"
        )
    steps = {"basis": "lll", "acceptance": "coordinate"}
    chains = sample(
        rng,
        invariants,
        mechanism,
        draws=KEPT,
        chains=CHAINS,
        burn_in=BURN_IN,
        thin=THIN,
        **steps,
    )
    fixed = freedom(invariants, None).fixed
    table = convergence(np.delete(chains, fixed, axis=2))
    rhat, ess = float(table["rhat"].max()), float(table["ess_bulk"].min())
    if table["frozen"].any() or not (rhat <= LARGEST_RHAT and ess >= SMALLEST_ESS):
        raise InputError(
            f"privatize: the Markov chains did not converge (worst R-hat {rhat:.3g}, fewest "
            f"effective draws {ess:.3g}); use a larger epsilon or a smaller table"
        )
    length = BURN_IN + KEPT * THIN
    noise = sample(rng, invariants, mechanism, draws=1, chains=1, burn_in=length, **steps)[0, 0]
    how = {
        "method": "Markov chain (isdp.mcmc.metropolis)",
        "reason": refusal,
        "error_bound": None,
        "error_words": (
            "a convergence error of unknown size enters the guarantee, and the evidence "
            "does not bound it"
        ),
        "arithmetic": "floating point",
        "randomness": source,
        "evidence": {
            "chains": CHAINS,
            "burn_in_sweeps": BURN_IN,
            "kept_states_a_chain": KEPT,
            "sweeps_between_kept_states": THIN,
            "worst_rhat": round(rhat, 4),
            "fewest_effective_draws": round(ess),
            "sweeps_before_the_released_state": length,
            "note": "the released state is from a further chain, which is not in the diagnostics",
        },
    }
    return Drawn(noise, how, chains)


def check_totals(held: list[Held], counts: np.ndarray, noisy: np.ndarray) -> list[dict]:
    """Compare all totals of both tables in integers.

    Raises
    ------
    InputError
        If a total differs, or sums could leave 64-bit integers.
    """
    largest = max(int(counts.max()), int(noisy.max()), -int(noisy.min()))
    if largest * len(counts) > INT64_MAX:
        raise InputError(
            f"privatize: {len(counts)} counts of up to {largest:.1g} could leave 64-bit integers; "
            f"use a larger epsilon"
        )
    checks = []
    for one in held:
        difference = int(abs(one.sums(noisy) - one.sums(counts)).max())
        if difference:
            raise InputError(f"privatize: {one.name}: a total is off by {difference}; not written")
        checks.append({"name": one.name, "totals": one.totals, "largest_difference": difference})
    return checks


# -- the picture ---------------------------------------------------------------------------------


def noise_sd(
    rows: np.ndarray,
    invariants: Invariants,
    blocks: np.ndarray | None,
    request: Request,
    spare,
) -> np.ndarray | None:
    """Find the noise's standard deviation in some cells, from its law or draws made for this.

    None where neither is cheap.
    """
    if blocks is not None and request.epsilon is not None:
        return _sd_of_blocks(blocks, float(request.epsilon))[rows]
    if isinstance(spare, np.ndarray):
        return spare.reshape(-1, invariants.cells).std(axis=0)[rows]
    if invariants.cells > MOST_CELLS_OF_BAND:
        return None
    try:
        sampler = spare or StagedSampler(invariants, request.mechanism)
    except InputError:
        return None
    draws = sampler.sample(stream(request.seed or 0, "picture"), BAND_DRAWS)
    return draws.std(axis=0)[rows]


def _sd_of_blocks(blocks: np.ndarray, epsilon: float) -> np.ndarray:
    sizes = np.bincount(blocks + 1)
    finest = max(epsilon, FINEST)
    by_size = {size: total_law(size, finest).sd for size in np.unique(sizes[1:]).tolist()}
    sd = np.array([0.0] + [by_size[size] for size in sizes[1:].tolist()])
    a = np.exp(-finest)
    sd[0] = np.sqrt(2 * a) / (1 - a)
    return sd[blocks + 1] * (finest / epsilon)


def _picture(table: Table, noisy, invariants, blocks, request: Request, drawn: Drawn):
    from isdp.privatize.picture import MOST_NAMES, ranked_counts, shown_rows

    rows = shown_rows(noisy)
    sd = noise_sd(rows, invariants, blocks, request, drawn.spare)
    names = [table.name(row)[:40] for row in rows] if len(rows) <= MOST_NAMES else None
    title = "Noisy counts, all named totals exact"
    if request.experiment:
        title += " (for experiments, NOT FOR RELEASE)"
    return ranked_counts(noisy[rows], len(noisy), sd, names, title)


# -- writing -------------------------------------------------------------------------------------


def _write(out: Path, table: Table, noisy, certificate: dict, figure, force: bool) -> None:
    """Write all files under temporary names, then give all of them theirs."""
    from isdp.plots.style import save

    with ExitStack() as stack:
        new = {name: stack.enter_context(whole(out / name)) for name in FILES}
        write_csv(table.replaced(noisy), new["noisy.csv"])
        certificate["output"]["sha256"] = hashlib.sha256(new["noisy.csv"].read_bytes()).hexdigest()
        write_json(new["certificate.json"], certificate)
        new["certificate.md"].write_text(markdown(certificate), encoding="utf-8")
        save(figure, new["noisy.svg"], new["noisy.png"])
        _check_out(out, [], force)
