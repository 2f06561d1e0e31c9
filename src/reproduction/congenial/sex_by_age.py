"""Sex by age under constraints (CDP, Section 3 and Appendix C).

`settings` is the block `congenial.sex_by_age` of the configuration. `counts` is a confidential
table, and `noise` is added to it. Both are int64 arrays whose last axis has the 46 cells.

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

import time
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import special

from isdp.constraints.polytope import Polytope
from isdp.diagnostics.chains import convergence
from isdp.diagnostics.summaries import WHISKER
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.independence_sampler import IndependenceSampler, acceptance_interval
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace, double_geometric_noise
from isdp.postprocess.projection import nearest_l2
from reproduction.data.table_p12 import (
    AGE_GROUPS,
    CELLS,
    N_GROUPS,
    N_MINOR_GROUPS,
    SEXES,
    build_table,
    sex_by_age_invariants,
)

INVARIANT_ROWS = ("18 and over", "all ages")
SPEED_COLUMNS = ["seconds", "effective_draws_per_second"]
TRACED_CELLS = [0, 1]  # cells of Figure 3, counted from 0


def build_polytope(counts: np.ndarray) -> Polytope:
    """Return the polytope of noise that keeps the three totals and makes no count negative."""
    return Polytope.of_counts(sex_by_age_invariants(), counts).around(counts)


def build_lattice_walk(counts: np.ndarray, epsilon: float, proposal: float) -> LatticeWalk:
    """Build a walk within the polytope whose steps move persons from one cell to another."""
    within = build_polytope(counts)
    lattice = kernel_lattice(within.equalities, "exchange")
    return LatticeWalk(lattice, GeneralizedLaplace(epsilon), proposal, "coordinate", within)


def build_independence_sampler(counts: np.ndarray, settings: Mapping) -> IndependenceSampler:
    """Build the independence sampler of CDP, Algorithm 1."""
    solved, mechanism = settings["solved"], GeneralizedLaplace(settings["epsilon"])
    cells = None if solved is None else np.asarray(solved) - 1
    proposal = settings["proposal_epsilon"]
    return IndependenceSampler(build_polytope(counts), mechanism, proposal, cells)


def _run(rng: np.random.Generator, sampler, settings: Mapping):
    numbers = {"n_draws": settings["draws"], "n_chains": settings["chains"]}
    return run_chains(rng, sampler, **numbers, burn_in=settings["burn_in"], thin=settings["thin"])


def compare_samplers(
    rng: np.random.Generator, samplers: dict[str, tuple[LatticeWalk | IndependenceSampler, Mapping]]
) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Run several samplers of one distribution, and measure their efficiency.

    `samplers` maps a name to a sampler and the settings of its run (chains, draws, burn_in, thin).
    All chains start at the confidential table. Returns a table with one row for each sampler, and
    the draws of each sampler by name.
    """
    rows, draws, streams = [], {}, rng.spawn(len(samplers))
    for (name, (sampler, settings)), stream in zip(samplers.items(), streams, strict=True):
        # the first call compiles the sampler, and is not timed
        run_chains(stream.spawn(1)[0], sampler, n_draws=1, n_chains=1, burn_in=1)
        began = time.perf_counter()
        noise, info = _run(stream, sampler, settings)
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


def tabulate_release(counts: np.ndarray, released: np.ndarray) -> pd.DataFrame:
    """Tabulate the confidential table and one release with their sums (CDP, Table 1).

    The last two rows are sums over the ages of 18 and over, and over all ages.
    """
    table = pd.DataFrame({"age": [*AGE_GROUPS, *INVARIANT_ROWS]})
    for prefix, cells in (("confidential", counts), ("released", released)):
        by_sex = np.asarray(cells).reshape(2, N_GROUPS)
        for name, part in zip((*SEXES, "both"), (*by_sex, by_sex.sum(axis=0)), strict=True):
            table[f"{prefix}_{name}"] = [*part, part[N_MINOR_GROUPS:].sum(), part.sum()]
    return table.assign(held=table["age"].isin(INVARIANT_ROWS))


def tabulate_norms(draws: dict[str, np.ndarray]) -> pd.DataFrame:
    """Compute the share of each l1 norm in the draws of each sampler."""
    norms = {name: pd.Series(np.abs(noise).sum(axis=-1).ravel()) for name, noise in draws.items()}
    shares = {name: each.value_counts(normalize=True).sort_index() for name, each in norms.items()}
    return pd.concat(shares, names=["sampler", "norm"]).rename("share").reset_index()


def place_release(
    counts: np.ndarray, released: np.ndarray | None, noise: np.ndarray
) -> pd.DataFrame:
    """Compare the norms of a printed release with the norms of our draws.

    The result has one row, or no row if there is no printed release. The intervals have a level of
    99 %.
    """
    known = ("_percentile", "_percentile_low", "_percentile_high", "_effective_draws")
    parts = ("", *known, "_low", "_median", "_high")
    columns = ["violations", *(f"{norm}{part}" for norm in ("l1", "l2") for part in parts)]
    if released is None:
        return pd.DataFrame(columns=columns)
    polytope = Polytope.of_counts(sex_by_age_invariants(), counts)
    error = released - counts
    row = [int((polytope.equalities.apply(error) != 0).sum() + (released < 0).sum())]
    for power in (1, 2):
        own = (np.abs(error) ** power).sum()
        ours = (np.abs(noise) ** power).sum(axis=-1)
        # ties count half, because the norms are integers
        below = ((ours < own) + (ours <= own).astype(float)) / 2
        mixed = convergence(below[..., None], ["ess_bulk"])["ess_bulk"].iloc[0]
        share, effective = float(below.mean()), float(np.fmin(mixed, below.size))
        row += [float(own ** (1 / power)), share]
        row += [*clopper_pearson(share * effective, effective), effective]
        row += [*np.quantile(ours, [0.005, 0.5, 0.995]) ** (1 / power)]
    return pd.DataFrame([row], columns=columns)


def sample_tables(
    rng: np.random.Generator, counts: np.ndarray, settings: Mapping
) -> tuple[dict[str, pd.DataFrame], np.ndarray]:
    """Draw releases with both samplers. Return tables, and the draws of the lattice walk.

    The tables are `chains` (without the speed of the samplers), `speed`, `norms`, `release` (a draw
    of the walk) and `printed`.
    """
    walk = build_lattice_walk(counts, settings["epsilon"], settings["walk"]["proposal"])
    samplers = {
        "walk": (walk, settings["walk"]),
        "independence": (build_independence_sampler(counts, settings), settings["independence"]),
    }
    compared, draws = compare_samplers(rng, samplers)
    noise = draws["walk"]
    known = not settings["file"] and settings["printed"] is not None
    printed = build_table(settings["printed"]) if known else None
    return {
        "chains": compared.drop(columns=SPEED_COLUMNS),
        "speed": compared[["sampler", *SPEED_COLUMNS]],
        "norms": tabulate_norms(draws),
        "release": tabulate_release(counts, counts + noise[0, -1]),
        "printed": place_release(counts, printed, noise),
    }, noise


def select_spaced_draws(noise: np.ndarray, n_draws: int) -> np.ndarray:
    """Select evenly spaced draws of all chains, as an array of shape (n_draws, cells)."""
    flat = noise.reshape(-1, noise.shape[-1])
    return flat[np.linspace(0, len(flat) - 1, n_draws).astype(int)]


def measure_acceptance(
    rng: np.random.Generator, counts: np.ndarray, settings: Mapping, noise: np.ndarray
) -> pd.DataFrame:
    """Measure the acceptance rate by proposal parameter (CDP, Figure 2).

    Chains with the start "target" begin at draws from the target distribution and give the
    stationary rate. Chains with the start "confidential" begin at the confidential table. The rows
    of the start "either" combine all chains.
    """
    acceptance = settings["acceptance"]
    epsilons, iterations = acceptance["proposal_epsilons"], acceptance["iterations"]
    paper = {} if settings["file"] else dict(zip(epsilons, acceptance["paper"], strict=True))
    stationary = select_spaced_draws(noise, acceptance["chains"])
    starts = {"target": stationary, "confidential": np.zeros_like(stationary)}
    rows = []
    for proposal_epsilon, stream in zip(epsilons, rng.spawn(len(epsilons)), strict=True):
        sampler = build_independence_sampler(
            counts, {**settings, "proposal_epsilon": proposal_epsilon}
        )
        found = {
            start: [
                sampler.run(each, sampler.init(point), 1, iterations)[2].accepted
                for each, point in zip(stream.spawn(len(points)), points, strict=True)
            ]
            for start, points in starts.items()
        }
        found["either"] = found["target"] + found["confidential"]
        for start, numbers in found.items():
            accepted = np.array(numbers)
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
                    "paper_percent": paper.get(proposal_epsilon),
                }
            )
    return compare_with_best_rate(pd.DataFrame(rows).astype({"paper_percent": float}))


def compare_with_best_rate(rates: pd.DataFrame) -> pd.DataFrame:
    """Subtract, from each rate, our rate at the parameter with the paper's highest rate."""
    best = rates[rates["paper_percent"] == rates["paper_percent"].max()].set_index("start")
    best = best.reindex(rates["start"]).reset_index()
    ahead = rates["percent"] - best["percent"]
    below = np.hypot(rates["percent"] - rates["low"], best["high"] - best["percent"])
    above = np.hypot(rates["high"] - rates["percent"], best["percent"] - best["low"])
    return rates.assign(ahead=ahead, ahead_low=ahead - below, ahead_high=ahead + above)


def trace_chains(
    rng: np.random.Generator, counts: np.ndarray, settings: Mapping
) -> dict[str, pd.DataFrame]:
    """Run chains from the confidential table, and trace two cells of one chain (CDP, Figure 3).

    The table `steps` has one row for each change of a cell of the first chain. The table `trace`
    has one row for each of its cells, and `spread` has one row for each statistic of all chains.
    The effective sample size of a cell is computed from the two halves of a chain. The effective
    sample size of a chain is the minimum over its cells.
    """
    sampler, steps = build_independence_sampler(counts, settings), settings["trace"]["steps"]
    described, first, ends = [], None, steps // 2 * 2
    for stream in rng.spawn(settings["trace"]["chains"]):
        noise, _, info = sampler.run(stream, sampler.init(), steps)
        halves = noise[:ends, TRACED_CELLS].reshape(2, ends // 2, len(TRACED_CELLS))
        cells = convergence(halves, ["ess_bulk"])["ess_bulk"]
        moved = np.flatnonzero(np.diff(noise, axis=0).any(axis=1)) + 1
        stay = int(np.diff(np.r_[0, moved, len(noise)]).max())
        chain = {"acceptance_percent": 100 * info.acceptance_rate, "longest_stay": stay}
        described.append({**chain, "ess": cells.min()})
        if first is None:
            first = (counts + noise)[:, TRACED_CELLS]
            trace = {
                "cell": np.array(TRACED_CELLS) + 1,
                "name": [CELLS[cell] for cell in TRACED_CELLS],
                "proposed": np.isin(TRACED_CELLS, sampler.free),
                "confidential": counts[TRACED_CELLS],
                "mean": first.mean(axis=0),
                "ess": cells,
                "steps": steps,
                **chain,
            }
    printed = not settings["file"] and settings["printed"] is not None
    return {
        "steps": pd.concat(map(_changes, trace["cell"], first.T)),
        "trace": pd.DataFrame(trace),
        "spread": _spread(pd.DataFrame(described), settings["trace"]["paper"] if printed else {}),
    }


def _changes(cell: int, values: np.ndarray) -> pd.DataFrame:
    steps = np.r_[0, np.flatnonzero(np.diff(values)) + 1, len(values) - 1]
    return pd.DataFrame({"step": steps + 1, "cell": cell, "count": values[steps]})


def _spread(described: pd.DataFrame, paper: Mapping[str, float]) -> pd.DataFrame:
    table = described.quantile([0.05, 0.5, 0.95]).T.set_axis(["q05", "median", "q95"], axis=1)
    table.insert(0, "chains", len(described))
    table["paper"] = pd.Series(paper, dtype=float)
    below = ((described < table["paper"]).sum() + (described <= table["paper"]).sum()) / 2
    table["share_below_paper"] = below / len(described)
    limits = [clopper_pearson(count, len(described)) for count in below]
    table["share_low"], table["share_high"] = zip(*limits, strict=True)
    table.loc[table["paper"].isna(), "share_below_paper":] = np.nan
    return table.rename_axis("statistic").reset_index()


def clopper_pearson(count: float, trials: float) -> tuple[float, float]:
    """Compute the 99 % Clopper-Pearson interval for `count` successes in `trials`."""
    low = special.betaincinv(count, trials - count + 1, 0.005) if count > 0 else 0.0
    high = special.betaincinv(count + 1, trials - count, 0.995) if count < trials else 1.0
    return float(low), float(high)


def draw_confidential_tables(
    rng: np.random.Generator, counts: np.ndarray, settings: Mapping
) -> np.ndarray:
    """Return the confidential tables for Figure 1, as int64 of shape (tables, 46).

    A table from a file is repeated. Simulated tables have independent negative binomial cells.
    """
    distances = settings["distances"]
    if settings["file"]:
        return np.tile(counts, (distances["tables"], 1))
    size = (distances["tables"], len(CELLS))
    simulated, success = rng.spawn(1)[0], 1 - distances["failure"]
    return simulated.negative_binomial(distances["successes"], success, size=size)


def measure_distances(
    rng: np.random.Generator, tables: np.ndarray, settings: Mapping
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure mean distances of releases from confidential tables, by method (CDP, Figure 1).

    Conditional releases are evenly spaced draws of a lattice walk. The second table has the
    convergence diagnostics of the walks. The releases of the method unmixed_N are taken from an
    independence chain of N proposals that starts at the confidential table.
    """
    options, epsilon = settings["distances"], settings["epsilon"]
    releases, raw_epsilon = options["releases"], options["raw_epsilon"]
    rows, mixing, streams = [], [], rng.spawn(len(tables))
    for number, (counts, stream) in enumerate(zip(tables, streams, strict=True), start=1):
        raw, walked, *short = stream.spawn(2 + len(options["unmixed"]))
        size = (releases, len(counts))
        polytope = Polytope.of_counts(sex_by_age_invariants(), counts)
        raw_noise = double_geometric_noise(raw, raw_epsilon, size)
        walk = build_lattice_walk(counts, epsilon, options["walk"]["proposal"])
        noise, _ = _run(walked, walk, options["walk"])
        found = {
            "raw": raw_noise,
            "projected": nearest_l2(counts + raw_noise, polytope) - counts,
            "conditional": select_spaced_draws(noise, releases),
            "raw_half": double_geometric_noise(raw, epsilon, size),
        }
        sampler = build_independence_sampler(counts, settings)
        for proposals, each in zip(options["unmixed"], short, strict=True):
            thin = max(1, proposals // releases)
            found[f"unmixed_{proposals}"] = sampler.run(each, sampler.init(), releases, thin)[0]
        for method, errors in found.items():
            l1, l2 = (np.linalg.norm(errors, norm, axis=-1).mean() for norm in (1, 2))
            rows.append({"table": number, "method": method, "l1": l1, "l2": l2})
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


def tabulate_medians(means: pd.DataFrame, settings: Mapping) -> pd.DataFrame:
    """Compute the median over tables of the mean distances, and compare it with the paper's."""
    options = settings["distances"]
    a = np.exp(-pd.Series({"raw": options["raw_epsilon"], "raw_half": settings["epsilon"]}))
    expected = len(CELLS) * 2 * a / (1 - a * a)  # mean l1 distance of a raw mechanism
    paper = pd.DataFrame({} if settings["file"] else options["paper"])
    long = means.melt(["table", "method"], ["l1", "l2"], "distance", "value")
    rows = []
    for (method, distance), values in long.groupby(["method", "distance"], sort=False)["value"]:
        q1, median, q3 = np.quantile(values, (0.25, 0.5, 0.75))
        length = WHISKER * (q3 - q1)
        inside = values[values.between(q1 - length, q3 + length)]
        # the standard error of the median of normal values is 1.2533 times that of their mean
        se = 1.2533 * values.std(ddof=1) / np.sqrt(len(values))
        printed = paper[method][distance] if method in paper else np.nan
        paper_se = se * np.sqrt(len(values) / options["paper_tables"])
        error = np.hypot(se, paper_se)
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
                "paper_se": paper_se if method in paper else np.nan,
                "z_paper": (median - printed) / error if error > 0 else np.nan,
                "closed_form": expected.get(method, np.nan) if distance == "l1" else np.nan,
            }
        )
    return pd.DataFrame(rows)
