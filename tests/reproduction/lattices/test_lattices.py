import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isdp import GeneralizedLaplace
from isdp.exact import enumerate_distribution
from isdp.io.draws import Draws
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.coupling import MeetingTimes
from isdp.mcmc.metropolis import LatticeWalk
from isdp.testing import check_mean
from reproduction.lattices.convergence import (
    compute_bound_curves,
    couple_chains,
    tabulate_convergence,
    tabulate_meetings,
)
from reproduction.lattices.entry import build_table
from reproduction.lattices.noise import (
    choose_burn_in,
    compare_norm,
    estimate_epsilon,
    place_printed,
    sample_noise,
    summarise_noise,
    tabulate_counts,
)

AXES = {"sex": ["f", "m"], "age": ["young", "old", "older"]}
TABLE = build_table(AXES, [["sex"], ["age"]], [[1, 2, 3], [4, 5, 6]])
MECHANISM = GeneralizedLaplace(0.3)


def walk(basis="lll", acceptance="coordinate", proposal=0.8):
    return LatticeWalk(kernel_lattice(TABLE.invariants, basis), MECHANISM, proposal, acceptance)


def settings(**changes):
    return {
        "runs": 30,
        "pilot_runs": 20,
        "near_one": 1.2,
        "lag_factors": [0.5, 1],
        "cap": 10**5,
    } | changes


def meetings(**iterations):
    rows = [
        {
            "experiment": "e",
            "law": "l1",
            "variant": variant,
            "lag": lag,
            "chains": 10,
            "cap": 5_000,
            "censored": 0,
            "standing": 0,
            "mean": 5.0,
            "max": 9,
            "bound_at_0": 1.0,
            "iterations_to_bound_0_1": steps,
            "iterations_to_bound_0_01": 2 * steps if steps else None,
            "chosen": lag == 8,
        }
        for variant, pair in iterations.items()
        for lag, steps in zip((4, 8), pair, strict=True)
    ]
    kinds = {"iterations_to_bound_0_1": "Int64", "iterations_to_bound_0_01": "Int64"}
    return pd.DataFrame(rows).astype(kinds)


def test_the_lags_are_the_chosen_one_and_its_multiples():
    times, trail = couple_chains(np.random.default_rng(1), walk(), **settings())
    lag = int(trail.loc[trail["chosen"], "lag"].iloc[0])
    assert [each.lag for each in times] == [lag // 2, lag]
    assert trail["bound_at_0"].iloc[-1] <= 1.2
    table = tabulate_meetings(times, 5_000)
    assert table["censored"].sum() == 0
    assert (table["iterations_to_bound_0_1"] <= table["iterations_to_bound_0_01"]).all()
    curves = compute_bound_curves(times)
    assert curves["t"].min() == 0
    assert curves.groupby("lag")["bound"].last().tolist() == [0, 0]


def test_rarely_moving_chains_do_not_pass_for_chains_that_met():
    """Both start at zero: at a short lag they coincide because neither has moved."""
    slow = LatticeWalk(
        kernel_lattice(TABLE.invariants), GeneralizedLaplace(1.0), 0.95, acceptance="joint"
    )
    _, trail = couple_chains(np.random.default_rng(1), slow, **settings(cap=10**6))
    assert trail["bound_at_0"].iloc[0] == 1
    chosen = trail[trail["chosen"]].iloc[0]
    assert chosen["lag"] > 100
    assert chosen["jumps"] >= 10
    times, _ = couple_chains(np.random.default_rng(1), slow, **settings(cap=1000))
    table = tabulate_meetings(times, 5_000)
    assert (table["standing"] > 0).all()
    assert table["iterations_to_bound_0_01"].isna().all()


def test_a_cap_that_every_run_reaches_is_said_and_does_not_crash():
    times, _ = couple_chains(np.random.default_rng(1), walk(), **settings(cap=6, lag_factors=[1]))
    all_cut = MeetingTimes(5, np.full(4, 6), np.ones(4, bool), np.full(4, 9))
    table = tabulate_meetings([*times, all_cut], 5_000)
    last = table.iloc[-1]
    assert last["censored"] == last["chains"] == 4
    assert last["standing"] == 0
    assert last[["iterations_to_bound_0_1", "iterations_to_bound_0_01"]].isna().all()
    assert (compute_bound_curves([all_cut])["censored"] == 4).all()


def test_variants_are_compared_with_the_paper():
    table = tabulate_convergence(meetings(paper=(100, 110), reduced=(10, 11)))
    assert table["fewer_than_paper"].tolist() == [1, 10]
    assert table["spread"].tolist() == pytest.approx([1.1, 1.1])
    assert table["iterations_to_bound_0_01"].tolist() == [220, 22]
    assert table["meeting_growth"].tolist() == pytest.approx([13 / 9] * 2)
    falling = meetings(paper=(100, 110)).assign(bound_at_0=[1.2, 0.9])
    assert tabulate_convergence(falling)["bound_growth"][0] == pytest.approx(0.75)
    standing = tabulate_convergence(falling.assign(standing=[1, 0]))
    assert standing[["meeting_growth", "bound_growth"]].isna().all(axis=None)
    cut = tabulate_convergence(meetings(paper=(100, None), reduced=(10, 11)))
    assert cut["fewer_than_paper"].isna().all()
    assert np.isnan(cut["spread"][0])
    # the paper's number has a column, for its own sampler only
    pairs = meetings(paper=(9, 9), reduced=(1, 1))
    found = tabulate_convergence(pairs)
    assert found["iterations_printed"].isna().all()
    found = tabulate_convergence(pairs, {"e": {"iterations_l1": 25, "iterations_l2": 7}})
    assert found["iterations_printed"].tolist() == [25, pd.NA]


def test_burn_in_is_what_the_bound_asks_for_and_the_cap_where_it_never_does():
    assert choose_burn_in(meetings(paper=(100, 110)), "paper", 999) == (220, True)
    assert choose_burn_in(meetings(paper=(100, None)), "paper", 999) == (999, False)


def test_noise_is_kept_at_a_thinning_that_makes_it_nearly_independent():
    draws = sample_noise(np.random.default_rng(2), TABLE, walk(), chains=4, draws=5000, burn_in=200)
    assert draws.settings["thin"] > 1
    assert draws.settings["converged"] is True
    TABLE.invariants.check(draws.noise)
    summary = summarise_noise(draws)
    assert summary.columns.tolist()[:4] == ["cell", "mean", "mcse", "sd"]
    assert summary["cell"].tolist() == TABLE.cells
    # values of a reversible chain that lie an integrated autocorrelation time apart: the mixture of
    # exponentials with that time that has most correlation left keeps half of it in one of e^-1
    kept = draws.noise.astype(float)
    products = kept[:, 1:] * kept[:, :-1] / kept.var(axis=(0, 1))
    for cell in products.reshape(-1, len(TABLE.cells)).T:
        assert cell.mean() < 1 / (2 * np.e) or check_mean(cell, 1 / (2 * np.e))
    row = compare_norm("l1", draws, MECHANISM)
    assert row["dimension"] == 2
    assert row["rule_mean"] == pytest.approx(2 / 0.3)
    law = enumerate_distribution(TABLE.invariants, MECHANISM)
    check_mean(row["mean"], law.pmf @ MECHANISM.noise_norm(law.points), row["mcse"])


def test_printed_tables_are_placed_within_the_law():
    noise = np.zeros((2, 50, 6), dtype=np.int64)
    noise[0, :, [0, 1, 3, 4]] = np.arange(50) * np.array([[1], [-1], [-1], [1]])
    draws = {"l1": Draws(noise, TABLE.invariants, TABLE.cells)}
    good, bad = [[20, -20, 0], [-20, 20, 0]], [[1, 0, 0], [0, 0, 0]]
    row = place_printed({"l1": good}, draws, {"l1": MECHANISM}).iloc[0]
    assert row["margins_off"] == 0
    assert row["norm_printed"] == 80
    assert row["percentile"] == pytest.approx((50 + 20 + 0.5) / 100)
    assert row["epsilon_best"] == pytest.approx(2 / 80)
    assert row["shape_printed"] == 0.5  # as all draws but the 51 that are zero
    assert row["shape_p_value"] == pytest.approx(2 * (1 - (51 + 49 / 2) / 100))
    assert place_printed({"l1": bad}, draws, {"l1": MECHANISM})["margins_off"][0] == 2


def test_epsilon_interval_is_where_the_likelihood_has_dropped():
    best, low, high = estimate_epsilon(18, 84.96)
    assert (round(best, 2), round(low, 2), round(high, 2)) == (0.21, 0.13, 0.33)

    def log_likelihood(epsilon):
        return stats.gamma.logpdf(84.96, 18, scale=1 / epsilon)

    for end in (low, high):
        drop = log_likelihood(best) - log_likelihood(end)
        assert 2 * drop == pytest.approx(stats.chi2.ppf(0.95, 1))
    assert low < best < high


def test_a_table_is_printed_with_its_totals():
    printed = tabulate_counts(TABLE.counts, AXES)
    assert printed.columns.tolist() == ["sex", "young", "old", "older", "Total"]
    assert printed["Total"].tolist() == [6, 15, 21]
    assert printed.iloc[-1].tolist() == ["Total", 5, 7, 9, 21]
    cube = np.arange(12).reshape(2, 3, 2)
    deep = tabulate_counts(cube, AXES | {"region": ["n", "s"]})
    assert deep.columns.tolist() == ["sex", "age", "n", "s", "Total"]
    assert deep.iloc[4].tolist() == ["m", "old", 8, 9, 17]
    assert deep.iloc[-1].tolist() == ["Total", "", 30, 36, 66]
    line = tabulate_counts(np.arange(3), {"age": AXES["age"]})
    assert line.iloc[0].tolist() == [0, 1, 2, 3]
    assert len(line) == 1
