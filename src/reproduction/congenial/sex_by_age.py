"""Sex by age under constraints (CDP, Section 3, Appendix C): chains, releases, distances."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import special

from isdp.constraints.polytope import Polytope
from isdp.diagnostics.chains import convergence
from isdp.diagnostics.summaries import WHISKER
from isdp.lattice.kernel import kernel_lattice
from isdp.mcmc.independence import IndependenceSampler, acceptance_interval
from isdp.mcmc.metropolis import LatticeWalk, Sampler, run_chains
from isdp.mechanisms.laplace import GeneralizedLaplace, double_geometric_noise
from isdp.postprocess.nearest import nearest_l2
from reproduction.data.table_p12 import (
    AGE_GROUPS,
    CELLS,
    GROUPS,
    MINORS,
    SEXES,
    sex_by_age_invariants,
    table_of,
)

HELD_ROWS = ("18 and over", "all ages")
SPEEDS = ["seconds", "effective_draws_per_second"]


def feasible_noise(counts: np.ndarray) -> Polytope:
    """Noise that keeps the three sums of a table and takes no cell below zero."""
    return Polytope.of_counts(sex_by_age_invariants(), counts).around(counts)


def lattice_walk(counts: np.ndarray, epsilon: float, proposal: float) -> LatticeWalk:
    """Walk of exchanges between cells, one at a time, within the polytope."""
    within = feasible_noise(counts)
    lattice = kernel_lattice(within.equalities, "exchange")
    return LatticeWalk(lattice, GeneralizedLaplace(epsilon), proposal, "coordinate", within)


def independence_sampler(
    counts: np.ndarray, epsilon: float, proposal_epsilon: float, solved: list[int] | None
) -> IndependenceSampler:
    """Independence sampler of CDP, Algorithm 1.

    Parameters
    ----------
    counts : int64 array, shape (46,)
    epsilon, proposal_epsilon : float
        Of the unconstrained mechanism and of the proposal.
    solved : list of int or None
        Cells that are solved from the equalities, counted from 1 as in the paper.
    """
    cells = None if solved is None else np.asarray(solved) - 1
    mechanism = GeneralizedLaplace(epsilon)
    return IndependenceSampler(feasible_noise(counts), mechanism, proposal_epsilon, cells)


def compare_samplers(
    rng: np.random.Generator, samplers: dict[str, tuple[Sampler, Mapping]]
) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Run samplers of one target side by side in one job, and measure their efficiency.

    Parameters
    ----------
    rng : numpy.random.Generator
    samplers : dict
        A sampler within a polytope and its run's settings (chains, draws, burn_in, thin) by name.
        All chains start at zero noise, the confidential table.

    Returns
    -------
    table : DataFrame
        One row a sampler: `outside` (draws that leave the polytope), acceptance_rate; rhat_max,
        ess_min and ess_median over the cells that move, and frozen cells; rhat_norm and ess_norm
        of the l1 norm; mean l1 and l2 norm; seconds and effective_draws_per_second (of the worst
        cell).
    draws : dict of int64 arrays (chain, draw, cell)
    """
    rows, draws = [], {}
    for (name, (sampler, settings)), stream in zip(
        samplers.items(), rng.spawn(len(samplers)), strict=True
    ):
        run_chains(stream.spawn(1)[0], sampler, draws=1, chains=1, burn_in=1)  # compiles
        began = time.perf_counter()
        noise, info = run_chains(stream, sampler, **settings)
        seconds = time.perf_counter() - began
        draws[name] = noise
        cells = convergence(noise, ("rhat", "ess_bulk", "ess_tail"))
        norms = np.abs(noise).sum(axis=-1, keepdims=True)
        norm = convergence(norms, ("rhat", "ess_bulk", "mcse_mean")).iloc[0]
        ess = cells[["ess_bulk", "ess_tail"]].min(axis=1)
        rows.append(
            {
                "sampler": name,
                "chains": noise.shape[0],
                "draws": noise.shape[1],
                "outside": int((~sampler.within.contains(noise)).sum()),
                "acceptance_rate": info.acceptance_rate,
                "rhat_max": cells["rhat"].max(),
                "ess_min": ess.min(),
                "ess_median": ess.median(),
                "frozen": int(cells["frozen"].sum()),
                "rhat_norm": norm["rhat"],
                "ess_norm": norm["ess_bulk"],
                "mean_l1": norms.mean(),
                "mcse_l1": norm["mcse_mean"],
                "mean_l2": np.sqrt(np.square(noise).sum(axis=-1)).mean(),
                "seconds": seconds,
                "effective_draws_per_second": ess.min() / seconds,
            }
        )
    return pd.DataFrame(rows), draws


def release_table(counts: np.ndarray, released: np.ndarray) -> pd.DataFrame:
    """Tabulate the confidential table and one release with their sums (CDP, Table 1).

    Returns
    -------
    DataFrame with columns age, confidential and released for each sex and both together, and held
        The last two rows are sums: of the ages from 18 and of all ages. `held` marks the rows whose
        sum over both sexes is held; of all ages, the sums of each sex are held too.
    """
    columns: dict[str, list] = {"age": [*AGE_GROUPS, *HELD_ROWS]}
    for what, table in (("confidential", counts), ("released", released)):
        by_sex = dict(zip(SEXES, np.asarray(table).reshape(2, GROUPS), strict=True))
        for name, part in (*by_sex.items(), ("both", sum(by_sex.values()))):
            columns[f"{what}_{name}"] = [*part, part[MINORS:].sum(), part.sum()]
    table = pd.DataFrame(columns)
    return table.assign(held=table["age"].isin(HELD_ROWS))


def norm_table(draws: dict[str, np.ndarray]) -> pd.DataFrame:
    """Share of each l1 norm among the draws of each sampler: sampler, norm, share."""
    parts = []
    for name, noise in draws.items():
        norms, counts = np.unique(np.abs(noise).sum(axis=-1), return_counts=True)
        parts.append(pd.DataFrame({"sampler": name, "norm": norms, "share": counts / counts.sum()}))
    return pd.concat(parts, ignore_index=True)


def place_release(
    counts: np.ndarray, released: np.ndarray | None, noise: np.ndarray
) -> pd.DataFrame:
    """Place a printed release among our draws.

    Returns
    -------
    DataFrame with one row, or none where nothing was printed
        `violations` (conditions that it breaks), and its l1 and l2 distance from the confidential
        table with their percentiles among the draws, and 99 % intervals of these by so many
        `effective_draws`, the draws' medians, and the limits between which 99 % of the draws lie.
    """
    known = ("_percentile", "_percentile_low", "_percentile_high", "_effective_draws")
    parts = ("", *known, "_low", "_median", "_high")
    columns = ["violations", *(f"{norm}{part}" for norm in ("l1", "l2") for part in parts)]
    if released is None:
        return pd.DataFrame(columns=columns)
    polytope = Polytope.of_counts(sex_by_age_invariants(), counts)
    error = released - counts
    broken = (polytope.equalities.apply(error) != 0).sum() + (released < 0).sum()
    row = {"violations": int(broken)}
    for norm, power in (("l1", 1), ("l2", 2)):
        own = (np.abs(error) ** power).sum()
        ours = (np.abs(noise) ** power).sum(axis=-1)
        row[norm] = float(own ** (1 / power))
        # half of the ties, as the norms are integers
        below = ((ours < own) + (ours <= own).astype(float)) / 2
        share, effective = float(below.mean()), _effective(below)
        found = (share, *share_limits(share * effective, effective), effective)
        row |= zip((f"{norm}{part}" for part in known), found, strict=True)
        limits = np.quantile(ours, [0.005, 0.5, 0.995]) ** (1 / power)
        row |= zip((f"{norm}_low", f"{norm}_median", f"{norm}_high"), limits, strict=True)
    return pd.DataFrame([row], columns=columns)


def sample_tables(
    rng: np.random.Generator,
    counts: np.ndarray,
    independence: IndependenceSampler,
    *,
    epsilon: float,
    walk: Mapping,
    independence_run: Mapping,
    printed: Mapping[str, list[int]] | None,
) -> tuple[dict[str, pd.DataFrame], np.ndarray]:
    """Draw releases by both samplers, and describe them.

    Parameters
    ----------
    rng : numpy.random.Generator
    counts : int64 array, shape (46,)
    independence : IndependenceSampler
    epsilon : float
        Of the unconstrained mechanism, per cell.
    walk, independence_run : mapping
        Chains, draws, burn_in and thin of each sampler; for the lattice walk also its proposal.
    printed : mapping or None
        The release that the paper prints, by sex; None for another table than the paper's.

    Returns
    -------
    tables : dict of DataFrame
        chains (both samplers without their speed), speed, norms, release (the walk's last draw)
        and printed.
    noise : int64 array (chain, draw, cell)
        Draws of the lattice walk.
    """
    run = {key: value for key, value in walk.items() if key != "proposal"}
    compared, draws = compare_samplers(
        rng,
        {
            "walk": (lattice_walk(counts, epsilon, walk["proposal"]), run),
            "independence": (independence, dict(independence_run)),
        },
    )
    noise = draws["walk"]
    tables = {
        "chains": compared.drop(columns=SPEEDS),
        "speed": compared[["sampler", *SPEEDS]],
        "norms": norm_table(draws),
        "release": release_table(counts, counts + noise[0, -1]),
        "printed": place_release(counts, None if printed is None else table_of(printed), noise),
    }
    return tables, noise


def spread_draws(noise: np.ndarray, wanted: int) -> np.ndarray:
    """Take draws that are spread evenly over all chains; shape (wanted, cells)."""
    flat = noise.reshape(-1, noise.shape[-1])
    return flat[np.linspace(0, len(flat) - 1, wanted).astype(int)]


def acceptance_table(
    rng: np.random.Generator,
    counts: np.ndarray,
    *,
    epsilon: float,
    proposal_epsilons: list[float],
    solved: list[int] | None,
    chains: int,
    iterations: int,
    starts: np.ndarray,
    paper: dict[float, float],
) -> pd.DataFrame:
    """Measure the acceptance rate against the proposal parameter (CDP, Fig 2).

    Each parameter is run from two kinds of start: from draws of the target, which gives the
    stationary rate, and from the confidential table itself, as one would run the algorithm. The
    chains of both together know the rate better where it does not hang on the start.

    Parameters
    ----------
    rng : numpy.random.Generator
    counts : int64 array, shape (46,)
    epsilon, proposal_epsilons, solved
        As in `independence_sampler`.
    chains, iterations : int
        Independent chains of each kind, and proposals of each.
    starts : int64 array, shape (at least chains, 46)
        Noise drawn from the target.
    paper : dict
        The paper's rate, in %, by proposal parameter; missing ones have none.

    Returns
    -------
    DataFrame with columns proposal_epsilon, start ("target", "confidential", or "either" for the
        chains of both), chains, iterations, accepted, never_moved (chains), percent, low and high
        (99 % interval), paper_percent, and those of `ahead_of_the_papers_best`
    """
    rows = []
    for proposal_epsilon, stream in zip(
        proposal_epsilons, rng.spawn(len(proposal_epsilons)), strict=True
    ):
        sampler = independence_sampler(counts, epsilon, proposal_epsilon, solved)
        found = {
            start: np.array(
                [
                    sampler.run(each, sampler.init(noise), 1, iterations)[2].accepted
                    for each, noise in zip(stream.spawn(chains), given, strict=False)
                ]
            )
            for start, given in (("target", starts), ("confidential", np.zeros_like(starts)))
        }
        found["either"] = np.concatenate([*found.values()])
        for start, accepted in found.items():
            rate, low, high = acceptance_interval(accepted, iterations)
            rows.append(
                {
                    "proposal_epsilon": proposal_epsilon,
                    "start": start,
                    "chains": len(accepted),
                    "iterations": iterations,
                    "accepted": int(accepted.sum()),
                    "never_moved": int((accepted == 0).sum()),
                    "percent": 100 * rate,
                    "low": 100 * low,
                    "high": 100 * high,
                    "paper_percent": paper.get(proposal_epsilon, np.nan),
                }
            )
    return ahead_of_the_papers_best(pd.DataFrame(rows))


def ahead_of_the_papers_best(rates: pd.DataFrame) -> pd.DataFrame:
    """Set each rate against that at the parameter where the paper's is highest.

    Parameters
    ----------
    rates : DataFrame
        Columns start, percent, low, high and paper_percent.

    Returns
    -------
    DataFrame
        With the columns ahead, ahead_low and ahead_high: percentage points, missing where the paper
        has no rate.
    """
    best = rates[rates["paper_percent"] == rates["paper_percent"].max()].set_index("start")
    best = best.reindex(rates["start"]).reset_index()
    ahead = rates["percent"] - best["percent"]
    below = np.hypot(rates["percent"] - rates["low"], best["high"] - best["percent"])
    above = np.hypot(rates["high"] - rates["percent"], best["percent"] - best["low"])
    return rates.assign(ahead=ahead, ahead_low=ahead - below, ahead_high=ahead + above)


def trace_tables(
    rng: np.random.Generator,
    counts: np.ndarray,
    sampler: IndependenceSampler,
    *,
    steps: int,
    chains: int,
    paper: Mapping[str, float],
    cells: tuple[int, ...] = (0, 1),
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Trace one chain from the confidential table, and describe others like it (CDP, Fig 3).

    Parameters
    ----------
    rng : numpy.random.Generator
    counts : int64 array, shape (46,)
    sampler : IndependenceSampler
    steps, chains : int
        Proposals of each chain, and chains; the first is traced.
    paper : mapping
        The paper's acceptance_percent, longest_stay and ess; it may lack any.
    cells : tuple of int
        Cells that are traced, counted from 0.

    Returns
    -------
    traces : DataFrame
        Columns step, cell (counted from 1) and count, of the first chain; a row for every change.
    summary : DataFrame
        One row a cell of the first chain: whether it is proposed or solved, its confidential
        count, mean, ess (of one chain, split in two), acceptance_percent and longest_stay.
    spread : DataFrame
        One row a statistic: its 5, 50 and 95 % quantiles over the chains, the paper's value and
        the share of chains below that. `ess` is the smaller of the two cells'.
    """
    rows, described = [], []
    for number, stream in enumerate(rng.spawn(chains)):
        noise, _, info = sampler.run(stream, sampler.init(), steps)
        stay = _longest_stay(noise)
        half = steps // 2
        halves = noise[: 2 * half, list(cells)].reshape(2, half, len(cells))
        ess = convergence(halves, ["ess_bulk"])["ess_bulk"].to_numpy()
        described.append(
            {
                "acceptance_percent": 100 * info.acceptance_rate,
                "longest_stay": stay,
                "ess": np.nanmin(ess) if np.isfinite(ess).any() else np.nan,
            }
        )
        if number == 0:
            first = noise
            rows = [
                {
                    "cell": cell + 1,
                    "name": CELLS[cell],
                    "proposed": bool(cell in sampler.free),
                    "confidential": int(counts[cell]),
                    "mean": (counts[cell] + noise[:, cell]).mean(),
                    "ess": own,
                    "steps": steps,
                    "acceptance_percent": 100 * info.acceptance_rate,
                    "longest_stay": stay,
                }
                for cell, own in zip(cells, ess, strict=True)
            ]
    traces = pd.concat(
        [_changes(cell + 1, counts[cell] + first[:, cell]) for cell in cells], ignore_index=True
    )
    return traces, pd.DataFrame(rows), _spread(pd.DataFrame(described), paper)


def _longest_stay(noise: np.ndarray) -> int:
    """Longest run of equal states of one chain, shape (steps, cells)."""
    moved = np.flatnonzero((np.diff(noise, axis=0) != 0).any(axis=1)) + 1
    return int(np.diff(np.concatenate([[0], moved, [len(noise)]])).max())


def _changes(cell: int, values: np.ndarray) -> pd.DataFrame:
    steps = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1, [len(values) - 1]])
    return pd.DataFrame({"step": steps + 1, "cell": cell, "count": values[steps]})


def _spread(described: pd.DataFrame, paper: Mapping[str, float]) -> pd.DataFrame:
    rows = []
    for name, values in described.items():
        low, median, high = values.quantile([0.05, 0.5, 0.95])
        printed = paper.get(name, np.nan)
        below = ((values < printed).sum() + (values <= printed).sum()) / 2
        share, limits = below / len(values), share_limits(below, len(values))
        rows.append((name, len(values), low, median, high, printed, share, *limits))
    shares = ["share_below_paper", "share_low", "share_high"]
    columns = ["statistic", "chains", "q05", "median", "q95", "paper", *shares]
    table = pd.DataFrame(rows, columns=columns)
    table.loc[table["paper"].isna(), shares] = np.nan
    return table


def _effective(values: np.ndarray) -> float:
    """Give the number of independent draws that some (chain, draw) are worth for their mean."""
    found = convergence(values[..., None], ["ess_bulk"])["ess_bulk"].iloc[0]
    return float(min(found, values.size)) if np.isfinite(found) else float(values.size)


def share_limits(count: float, among: float, level: float = 0.99) -> tuple[float, float]:
    """Limits of a chance that came true `count` times of so many (Clopper and Pearson)."""
    tail = (1 - level) / 2
    low = special.betaincinv(count, among - count + 1, tail) if count > 0 else 0.0
    high = special.betaincinv(count + 1, among - count, 1 - tail) if count < among else 1.0
    return float(low), float(high)


def simulated_tables(
    rng: np.random.Generator, tables: int, successes: float, failure: float
) -> np.ndarray:
    """Draw confidential tables with independent negative binomial cells; int64 (tables, 46)."""
    return rng.negative_binomial(successes, 1 - failure, size=(tables, len(CELLS)))


def confidential_tables(
    rng: np.random.Generator, settings: Mapping, counts: np.ndarray | None
) -> np.ndarray:
    """Take the tables whose releases are compared: simulated, or one table again and again.

    Parameters
    ----------
    rng : numpy.random.Generator
        Simulated tables are drawn from its first spawned stream.
    settings : mapping
        `tables` (their number), and `successes` and `failure` of the simulated cells.
    counts : int64 array, shape (46,), or None
        The table; None to simulate.

    Returns
    -------
    int64 array, shape (tables, 46)
    """
    if counts is not None:
        return np.tile(counts, (settings["tables"], 1))
    drawing = (settings["tables"], settings["successes"], settings["failure"])
    return simulated_tables(rng.spawn(1)[0], *drawing)


def mean_distances(noise: np.ndarray) -> dict[str, float]:
    """Mean l1 and l2 norm of releases' errors, shape (..., cells)."""
    l2 = np.sqrt(np.square(np.asarray(noise, dtype=float)).sum(axis=-1))
    return {"l1": float(np.abs(noise).sum(axis=-1).mean()), "l2": float(l2.mean())}


def distances(
    rng: np.random.Generator,
    tables: np.ndarray,
    *,
    releases: int,
    raw_epsilon: float,
    epsilon: float,
    proposal_epsilon: float,
    solved: list[int] | None,
    walk: Mapping,
    unmixed: list[int],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean distance of each confidential table from its releases, method by method (CDP, Fig 1).

    Parameters
    ----------
    rng : numpy.random.Generator
    tables : int64 array, shape (tables, 46)
    releases : int
        Of each table and method.
    raw_epsilon, epsilon : float
        Of the raw mechanism and its projection, and of the conditional one.
    proposal_epsilon, solved
        Of the independence sampler; see `independence_sampler`.
    walk : mapping
        Of the lattice walk that draws the conditional releases: proposal, chains, draws (kept of
        each chain, all of which are diagnosed; the releases are spread over them), burn_in, thin.
    unmixed : list of int
        Proposals of an independence chain that starts at the confidential table and yields its
        releases at even spaces: what one gets without waiting for it to mix.

    Returns
    -------
    means : DataFrame
        Columns table, method, l1 and l2.
    mixing : DataFrame
        One row a table: rhat_max over the cells and the l1 norm of the conditional releases'
        chains, ess_norm, and frozen cells.
    """
    rows, mixing = [], []
    for number, (counts, stream) in enumerate(
        zip(tables, rng.spawn(len(tables)), strict=True), start=1
    ):
        raw, walked, *short = stream.spawn(2 + len(unmixed))
        size = (releases, len(counts))
        polytope = Polytope.of_counts(sex_by_age_invariants(), counts)
        loud = double_geometric_noise(raw, raw_epsilon, size)
        nearest = nearest_l2(counts + loud, polytope) - counts
        settings = {key: value for key, value in walk.items() if key != "proposal"}
        noise, _ = run_chains(walked, lattice_walk(counts, epsilon, walk["proposal"]), **settings)
        found = {
            "raw": loud,
            "projected": nearest,
            "conditional": spread_draws(noise, releases),
            "raw_half": double_geometric_noise(raw, epsilon, size),
        }
        sampler = independence_sampler(counts, epsilon, proposal_epsilon, solved)
        for proposals, each in zip(unmixed, short, strict=True):
            found[f"unmixed_{proposals}"] = sampler.run(
                each, sampler.init(), releases, max(1, proposals // releases)
            )[0]
        rows += [
            {"table": number, "method": method, **mean_distances(errors)}
            for method, errors in found.items()
        ]
        cells = convergence(noise, ["rhat"])
        norm = convergence(np.abs(noise).sum(axis=-1, keepdims=True), ("rhat", "ess_bulk")).iloc[0]
        mixing.append(
            {
                "table": number,
                "rhat_max": np.fmax(cells["rhat"].max(), norm["rhat"]),
                "rhat_norm": norm["rhat"],
                "ess_norm": norm["ess_bulk"],
                "frozen": int(cells["frozen"].sum() + norm["frozen"]),
            }
        )
    return pd.DataFrame(rows), pd.DataFrame(mixing)


def median_table(
    means: pd.DataFrame,
    paper: Mapping[str, Mapping[str, float]],
    paper_tables: int,
    epsilons: Mapping[str, float],
) -> pd.DataFrame:
    """Compare medians over the tables with the paper's, with the standard error of a median.

    Parameters
    ----------
    means : DataFrame
        From `distances`.
    paper : mapping
        The paper's medians (l1 and l2) by method.
    paper_tables : int
        Tables that the paper's medians are over.
    epsilons : mapping
        The epsilon of each raw method, whose mean l1 distance has a closed form.

    Returns
    -------
    DataFrame with columns method, distance, median, se (of the median, from the spread over the
        tables), q1, q3, whisker_low, whisker_high, paper, paper_se (of the paper's median, over
        its number of tables, if these spread as ours), z_paper (the difference in units of both
        medians' error) and closed_form
    """
    rows = []
    long = means.melt(["table", "method"], ["l1", "l2"], "distance", "value")
    for (method, distance), values in long.groupby(["method", "distance"], sort=False)["value"]:
        q1, median, q3 = np.quantile(values, (0.25, 0.5, 0.75))
        reach = WHISKER * (q3 - q1)
        inside = values[values.between(q1 - reach, q3 + reach)]
        # a median varies about 1.2533 times as much as a mean, for nearly normal values
        se = 1.2533 * values.std(ddof=1) / np.sqrt(len(values))
        printed = paper.get(method, {}).get(distance, np.nan)
        paper_se = se * np.sqrt(len(values) / paper_tables)
        error = np.hypot(se, paper_se)
        closed = np.nan
        if method in epsilons and distance == "l1":
            a = np.exp(-epsilons[method])
            closed = len(CELLS) * 2 * a / (1 - a * a)
        rows.append(
            {
                "method": method,
                "distance": distance,
                "median": median,
                "se": se,
                "q1": q1,
                "q3": q3,
                "whisker_low": inside.min(),
                "whisker_high": inside.max(),
                "paper": printed,
                "paper_se": paper_se if printed == printed else np.nan,
                "z_paper": (median - printed) / error if error > 0 else np.nan,
                "closed_form": closed,
            }
        )
    return pd.DataFrame(rows)
