import numpy as np
import pytest
from scipy import stats

from isdp import InputError
from isdp.diagnostics.chains import convergence
from isdp.testing import DistributionError, check_mean


def split_rhat(draws):
    """Rank-normalised split R-hat of one coordinate, from its definition (Vehtari et al. 2021)."""
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])

    def plain(values):
        ranks = stats.rankdata(values).reshape(values.shape)
        z = stats.norm.ppf((ranks - 0.375) / (values.size + 0.25))
        within = z.var(axis=1, ddof=1).mean()
        between = half * z.mean(axis=1).var(ddof=1)
        return np.sqrt(((half - 1) / half * within + between / half) / within)

    return max(plain(halves), plain(np.abs(halves - np.median(halves))))


def test_rhat_agrees_with_its_definition():
    rng = np.random.default_rng(1)
    draws = rng.integers(-20, 20, (4, 200, 3)) + np.arange(4)[:, None, None] * [0, 1, 5]
    table = convergence(draws)
    for coordinate in range(3):
        assert table["rhat"][coordinate] == pytest.approx(
            split_rhat(draws[..., coordinate]), rel=1e-6
        )


@pytest.mark.parametrize("repeated", [1, 10])
def test_effective_sizes_and_errors_are_those_of_the_mean(repeated):
    """The square of a mean in its own standard errors is 1 on average, with variance 2."""
    rng = np.random.default_rng(2)
    table = convergence(np.repeat(rng.normal(size=(4, 400 // repeated, 100)), repeated, axis=1))
    for error in (table["mcse_mean"], table["ess_bulk"] ** -0.5):  # the law's deviation is 1
        squares = (table["mean"] / error) ** 2
        check_mean(squares, 1, np.sqrt(2))
        with pytest.raises(DistributionError):
            check_mean(3 * squares, 1, np.sqrt(2))


def test_frozen_coordinates_are_told_apart_and_do_not_disturb_the_others():
    rng = np.random.default_rng(3)
    moving = rng.integers(-5, 6, (4, 100))
    same = np.full((4, 100), 7)
    apart = np.repeat(np.arange(4)[:, None], 100, axis=1)
    one_chain_stands = moving.copy()
    one_chain_stands[2] = 0
    draws = np.stack([same, moving, apart, one_chain_stands], axis=-1)
    table = convergence(draws)
    assert table["frozen"].tolist() == [True, False, True, True]
    assert (
        table.loc[table["frozen"], ["rhat", "ess_bulk", "ess_tail", "mcse_mean"]]
        .isna()
        .all(axis=None)
    )
    alone = convergence(moving[..., None])
    assert table["rhat"][1] == alone["rhat"][0]
    assert table["mean"].tolist() == [7, moving.mean(), 1.5, one_chain_stands.mean()]


def test_all_frozen_is_an_answer_too():
    assert convergence(np.zeros((2, 10, 2), int))["frozen"].all()


@pytest.mark.parametrize("shape", [(4, 100), (1, 100, 2), (4, 3, 2)])
def test_too_little_to_diagnose_is_refused(shape):
    with pytest.raises(InputError, match="at least 2 chains"):
        convergence(np.zeros(shape))
