"""Households by size, county and tenure, synthetic or from a file.

The slides (SWAP) swap within household sizes, and print only the table of county by tenure. The
synthetic households have exactly this table and 264,331 households of two persons. The shares of
the other sizes are ours. The differences in size between counties are an assumption, with three
scenarios.

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

import numpy as np
import pandas as pd
import scipy

from isdp.errors import InputError
from isdp.swapping.accuracy import covariance
from reproduction.swapping.printed import PRINTED_RATE, TENURES, counts_before

TWO_PERSON_HOUSEHOLDS = 264331  # number of households in the slides' largest stratum
# percentages of the sizes 1 to 12; the slides give that of size 2, and size 12 has the remainder
SIZE_SHARES = (9.0, 0, 21.5, 18.2, 11.9, 7.1, 4.1, 2.4, 1.3, 0.75, 0.35, 0)
OWNING_LOG_ODDS = 0.12  # change in the log-odds of owning for each further person in the household
# The tilt of a county is the change in the log weight of a household for each further person in it.
# This constant is the tilt for each person by which the county's persons per dwelling exceed the
# number of the state.
TILT_BY_PERSONS = 0.25
SCENARIOS = ("equal mix", "persons per dwelling", "fitted")
MAX_RAKING_STEPS, RAKING_TOLERANCE = 5000, 1e-9  # the tolerance is relative
N_FITTING_STEPS = 12


def compute_size_totals(households: int) -> np.ndarray:
    """Compute the number of households of each size from 1 to 12, as int64 of shape (12,)."""
    totals = [round(households * share / 100) for share in SIZE_SHARES]
    totals[1] = TWO_PERSON_HOUSEHOLDS
    totals[-1] = households - sum(totals[:-1])
    return np.array(totals, dtype=np.int64)


def build_households(table: pd.DataFrame, scenario: str) -> np.ndarray:
    """Build households with exact margins, as int64 of shape (sizes, counties, tenures).

    The scenario "equal mix" has the same shares of sizes in all counties. The scenario "persons per
    dwelling" has larger households in counties with more persons per dwelling. The scenario
    "fitted" is chosen so that the expected swapped table is close to the printed table. It is
    therefore no evidence about the printed table.
    """
    tilts = np.zeros(len(table))
    if scenario == "persons per dwelling":
        per_dwelling = table["persons"] / table["total"]
        state = table["persons"].sum() / table["total"].sum()
        tilts = TILT_BY_PERSONS * (per_dwelling - state).to_numpy()
    counts = rake(table, tilts)
    if scenario == "fitted":
        counts = _fitted(table, tilts)
    return round_counts(counts, compute_size_totals(int(table["total"].sum())))


def rake(table: pd.DataFrame, tilts: np.ndarray) -> np.ndarray:
    """Fit seed weights of shape (12, 14, 2) to both margins by iterative proportional fitting.

    `tilts` gives, for each county, the change in the log weight of a household per person in it.
    """
    cells = counts_before(table)[0].astype(float)
    sizes = compute_size_totals(int(table["total"].sum())).astype(float)
    persons = np.arange(1, len(sizes) + 1)
    centred = persons - persons @ sizes / sizes.sum()
    odds = np.stack([centred * OWNING_LOG_ODDS, np.zeros(len(sizes))], axis=1)
    log_seed = np.log(sizes)[:, None, None] + np.outer(centred, tilts)[:, :, None]
    counts = np.exp(log_seed + odds[:, None, :])
    for _ in range(MAX_RAKING_STEPS):
        counts *= cells / counts.sum(axis=0)
        ratio = sizes / counts.sum(axis=(1, 2))
        counts *= ratio[:, None, None]
        if abs(ratio - 1).max() < RAKING_TOLERANCE:
            return counts
    raise InputError(
        "households: iterative proportional fitting did not converge. Use smaller tilts."
    )


def round_counts(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Round each cell down or up so that both margins stay the same.

    A transportation problem selects the cells to round up. It minimises the change, and its
    vertices are integer.
    """
    flat = counts.reshape(len(sizes), -1)
    low = np.floor(flat + RAKING_TOLERANCE)
    up = [*(sizes - low.sum(axis=1)), *(np.rint(flat.sum(axis=0)) - low.sum(axis=0))]
    rows, columns = flat.shape
    margins = np.vstack(
        [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    )
    gain = np.clip(flat - low, 0, 1).ravel()
    found = scipy.optimize.linprog(-gain, A_eq=margins, b_eq=up, bounds=(0, 1), method="highs-ds")
    if not found.success:
        raise InputError("households: no rounding keeps both margins. Use integer margins.")
    return (low.ravel() + np.rint(found.x)).astype(np.int64).reshape(counts.shape)


def estimate_owning_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Estimate the owning share of each county for households with the sizes of the state.

    At a swap rate of 50 %, a household keeps its county or receives the county of another household
    of its size. Both have the probability 1/2 up to terms of order 1/n. The estimate is therefore
    (2 a - b) / n for b owners before the swap, a owners after the swap, and n households. Its
    standard error assumes a swap in one stratum.
    """
    rate = (2 * table["owned_after"] - table["owned"]) / table["total"]
    sd = np.sqrt(np.diag(covariance(counts_before(table), PRINTED_RATE)))
    return pd.DataFrame({"rate": rate, "error": 2 * sd / table["total"]})


def _fitted(table: pd.DataFrame, tilts: np.ndarray) -> np.ndarray:
    """Find tilts that give each county its estimated owning share, shrunk to that of the state."""
    implied = estimate_owning_rates(table)
    state = table["owned"].sum() / table["total"].sum()
    off, noise = implied["rate"] - state, implied["error"] ** 2
    between = max(float((off**2 - noise).mean()), 0.0)
    goal = (state + off * between / (between + noise)).to_numpy()
    counts = rake(table, tilts)
    for _ in range(N_FITTING_STEPS):
        own = counts[:, :, 0].sum(axis=1) / counts.sum(axis=(1, 2))
        share = counts.sum(axis=2) / counts.sum(axis=(0, 2))
        persons = np.arange(1, len(own) + 1)
        slope = own @ (share * persons[:, None]) - (own @ share) * (persons @ share)
        tilts = tilts + (goal - own @ share) / slope
        counts = rake(table, tilts)
    return counts


def read_households(path, table: pd.DataFrame) -> np.ndarray:
    """Read real households from a CSV file with the columns county, size, tenure and count.

    Raises InputError unless the households sum to the printed table, and the most frequent size has
    264,331 households. The shape is (sizes, 14, 2).
    """
    frame = pd.read_csv(path)
    if list(frame.columns) != ["county", "size", "tenure", "count"]:
        raise InputError(f"{path}: the columns are wrong. Give county, size, tenure, count.")
    if not set(frame["county"]) <= set(table.index) or not set(frame["tenure"]) <= set(TENURES):
        raise InputError(
            f"{path}: counties must be those of the printed table, and tenures must be "
            f"{' or '.join(TENURES)}"
        )
    if any(frame[column].dtype.kind != "i" for column in ("size", "count")):
        raise InputError(f"{path}: a size or a count is not a whole number. Give whole numbers.")
    cells = [sorted(set(frame["size"])), table.index, list(TENURES)]
    sums = frame.groupby(["size", "county", "tenure"])["count"].sum()
    counts = sums.reindex(pd.MultiIndex.from_product(cells), fill_value=0)
    counts = counts.to_numpy(np.int64).reshape([len(names) for names in cells])
    if not np.array_equal(counts.sum(axis=0), counts_before(table)[0]) or counts.min() < 0:
        raise InputError(
            f"{path}: the sum over sizes differs from the slides' table of county by tenure. Give "
            f"all households."
        )
    if counts.sum(axis=(1, 2)).max() != TWO_PERSON_HOUSEHOLDS:
        raise InputError(
            f"{path}: the most frequent size must have the {TWO_PERSON_HOUSEHOLDS:,} households of "
            "the slides"
        )
    return counts


def build_scenarios(table: pd.DataFrame, path=None) -> dict[str, np.ndarray]:
    """Build the households of all scenarios by name, and those of the file `path` if given."""
    given = {} if path is None else {"given households": read_households(path, table)}
    return {
        "one stratum": counts_before(table),
        **{name: build_households(table, name) for name in SCENARIOS},
        **given,
    }
