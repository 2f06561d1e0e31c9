"""Computations for theorems and remarks of the slides (SWAP), and errata with arguments.

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

import math
from itertools import product

import numpy as np
import pandas as pd

from isdp.accounting.conversions import CONVERSIONS, epsilon_bun_steinke
from isdp.accounting.divergences import multiplicative, total_variation
from isdp.constraints import Invariants
from isdp.errors import InputError
from isdp.exact import enumerate_distribution
from isdp.lattice import kernel_lattice
from isdp.mechanisms import GeneralizedLaplace
from isdp.swapping.privacy.bound import epsilon_bound
from isdp.swapping.privacy.worst_case import min_worst_case_loss
from reproduction.swapping.percentage_errors import expected_mape
from reproduction.swapping.theory.enumeration import distance, output_distribution
from reproduction.swapping.theory.flavours import RENYI, SYSTEMS, compare, differences
from reproduction.swapping.theory.privacy_profile import exchange_epsilon

SLIDES_DELTA = 1e-10  # delta of the slides
PRINTED_EPSILONS = {"TopDown, PL 94-171 and DHC": 52.83}


def compare_flavours() -> pd.DataFrame:
    """List the components in which pairs of systems differ, and compare budgets of one flavour.

    The exact release of invariants is omitted, because its budget is 0 in every flavour.
    """
    rows = []
    for first, second in product([one for one in SYSTEMS if one.intensity != 0], repeat=2):
        unlike = differences(first, second)
        try:
            ratio, reason = compare(first, second), ""
        except InputError as error:
            ratio, reason = math.nan, str(error).removeprefix("flavours: ")
        rows.append((first.name, second.name, ", ".join(unlike), len(unlike), ratio, reason))
    return pd.DataFrame(rows, columns=["first", "second", "differ", "number", "ratio", "why"])


def convert_topdown_budgets() -> pd.DataFrame:
    """Convert the budgets of the 2020 systems to epsilon, by each conversion.

    The column `misread` is the epsilon if the printed number were the square root of rho.
    """
    rows = []
    for one in [system for system in SYSTEMS if system.standard == RENYI]:
        rho = one.intensity**2
        half = 10.0 ** -len(f"{rho:g}".partition(".")[2]) / 2  # half a unit of the last digit
        low, high = (epsilon_bun_steinke(rho + side * half, SLIDES_DELTA) for side in (-1, 1))
        printed = PRINTED_EPSILONS.get(one.name, math.nan)
        rows.append(
            {
                "system": one.name,
                "rho": rho,
                "on_d_nor": one.intensity,
                "share_of_rho": one.intensity / rho,
                **{name: epsilon(rho, SLIDES_DELTA) for name, epsilon in CONVERSIONS.items()},
                "slides_low": low,
                "slides_high": high,
                "printed_epsilon": printed,
                "off_printed": abs(printed - np.clip(printed, low, high)),
                "misread": epsilon_bun_steinke(rho**2, SLIDES_DELTA),
            }
        )
    return pd.DataFrame(rows)


def check_necessity() -> pd.DataFrame:
    """Compute the loss between swapped tables of four households, with equal and unequal totals."""
    tenure = (0, 0, 1, 1)
    here = ((0, 0, 1, 1), tenure)
    pairs = {
        "equal invariants": ((0, 1, 0, 1), tenure),
        "another county total": ((0, 0, 0, 1), tenure),
        "another tenure total": ((0, 0, 1, 1), (0, 1, 1, 1)),
    }
    records = [*zip(*here, strict=True)]
    distances = {
        name: distance(records, [*zip(*there, strict=True)], [0] * len(records))
        for name, there in pairs.items()
    }
    cases = [
        (
            name,
            *(output_distribution(*data, "1/2", table=True) for data in (here, there)),
            distances[name],
        )
        for name, there in pairs.items()
    ]
    exchanged = (output_distribution(x, (0, 1), "1/2", table=True) for x in ((0, 1), (1, 0)))
    cases.append(("two households at p = 1/2, a constant mechanism", *exchanged, 2))
    cases.append(("integer noise, another row total", *_noisy_tables([[1, 0], [0, 1]]), 1))
    for name in ("equal invariants", "another county total"):
        # the release of the totals has a single output with probability 1
        margins = (
            [np.bincount(part, minlength=2) for part in data] for data in (here, pairs[name])
        )
        totals = ({tuple(np.ravel(both)): 1} for both in margins)
        cases.append((f"{name}, and only the totals are released", *totals, distances[name]))
    rows = []
    for name, one, other, units in cases:
        outputs = sorted(one.keys() | other.keys())
        pair = [np.array([float(each.get(x, 0)) for x in outputs]) for each in (one, other)]
        loss = multiplicative(*pair)
        rows.append((name, units, total_variation(*pair), loss, loss / units))
    columns = ["pair", "distance", "total_variation", "multiplicative", "loss_per_unit"]
    return pd.DataFrame(rows, columns=columns)


def _noisy_tables(table: list[list[int]]) -> list[dict]:
    """Compute the distributions of a noisy 2 x 2 table, before and after a move of one record."""
    noise = enumerate_distribution(Invariants.margins((2, 2)), GeneralizedLaplace(1.0))
    return [
        dict(zip(map(tuple, (noise.points + np.ravel(x)).tolist()), noise.pmf, strict=True))
        for x in (table, np.add(table, [[-1, 0], [1, 0]]))
    ]


def rank_reduced_margins() -> pd.DataFrame:
    """Compute the rank of the margins of a 4 x 4 table without one of their sums.

    The slides state that no budget is finite under a proper subset of the invariants. If the rank
    stays the same, the remaining sums imply the removed sum. The pairs of datasets and the budget
    then stay the same.
    """
    margins = Invariants.margins((4, 4))
    kept = {"nothing": margins} | {
        name: Invariants(np.delete(margins.matrix, row, axis=0))
        for row, name in enumerate(margins.names)
    }
    rows = [
        (name, sums.constraints, sums.cells - kernel_lattice(sums).dimension)
        for name, sums in kept.items()
    ]
    table = pd.DataFrame(rows, columns=["dropped", "sums", "rank"])
    return table.assign(implied=(table["rank"] == table["rank"][0]) & (table.index > 0))


def tabulate_perverse_guide(
    printed: pd.DataFrame, one_stratum: np.ndarray, by_size: np.ndarray, rate: float = 0.05
) -> pd.DataFrame:
    """Reduce epsilon without more noise, by the three methods of the slides.

    `one_stratum` and `by_size` count the same households, without and with their size in the swap
    key. Both have shape (strata, counties, tenures).
    """
    key = printed[(printed["census"] == "2020") & (printed["rate"] == rate)]
    rows = [
        ("more invariants", f"2020: match on {label}", epsilon_bound(rate, largest), math.nan)
        for label, largest in zip(key["match"], key["largest"], strict=True)
    ]
    for label, counts in (("one stratum", one_stratum), ("household size", by_size)):
        epsilon = epsilon_bound(rate, int(counts.sum(axis=(1, 2)).max()))
        step = (f"1940: {label}", epsilon, expected_mape(counts, rate))
        rows.append(("more invariants", *step))
    error = expected_mape(by_size, rate)
    epsilon = epsilon_bound(rate, int(by_size[1:].sum(axis=(1, 2)).max()))
    with_delta = max(
        exchange_epsilon(int(n), rate, SLIDES_DELTA) for n in by_size.sum(axis=(1, 2)) if n >= 2
    )
    rows += [
        ("a finer unit", "1940: household", epsilon, error),
        ("a finer unit", "1940: person, of households of two or more", epsilon / 2, error),
        ("a smaller divergence", "1940: delta = 0", epsilon, error),
        ("a smaller divergence", f"1940: delta = {SLIDES_DELTA:g}", with_delta, error),
    ]
    table = pd.DataFrame(rows, columns=["way", "step", "epsilon", "mape"])
    before = table.groupby([table["way"], table["step"].str[:4]])["epsilon"].shift()
    return table.assign(falls=(table["epsilon"] < before).where(before.notna()))


def list_errata(printed: pd.DataFrame) -> pd.DataFrame:
    """List numbers and statements of the slides that are inconsistent or in doubt."""
    dhc = convert_topdown_budgets().set_index("system").loc["TopDown, PL 94-171 and DHC"]
    ranks = rank_reduced_margins()
    block_group = printed[printed["largest"] == 11691].iloc[0]
    wider = printed[printed["largest"] == 21535].iloc[0]
    rows = [
        (
            "rho and rho squared",
            "rho = 15.29 on one slide, rho^2 = 15.29 on another",
            f"{dhc['misread']:.1f}",
            "If the budget on D_nor were 15.29, epsilon would be this number and not 52.8.",
        ),
        (
            "any proper subset of the invariants",
            "no finite budget",
            f"rank {ranks['rank'].iloc[1:].min()} of {ranks['rank'].iloc[0]}",
            "Each of the 8 sums of a 4 x 4 table follows from the others. Without it the budget is "
            "the same. The statement is true of subsets that imply less. The slides make it about "
            "TopDown, whose own list of invariants they do not give in full.",
        ),
        (
            "one record selected",
            "not in the bullets, in the listing",
            "redrawn",
            "A single record has no derangement, so that the bullets alone define no distribution.",
        ),
        (
            "smallest attainable epsilon is positive",
            "epsilon_b > 0",
            f"{min_worst_case_loss(2):g}",
            "This is true of the bound. The exact loss of a stratum of two is 0 at a rate of 1/2.",
        ),
        (
            "household size of the 2020 strata",
            f"{block_group['largest_stratum']}",
            f"{block_group['largest'] / wider['largest']:.1%} of the block group",
            "This share is too large for households of three persons. The third line of the table "
            "is about two persons, as in 1940. The slides do not answer the question.",
        ),
        (
            "table or dataset",
            "the listing returns a table, the theorem speaks of the dataset",
            "the same",
            "The table [n_jkl] is the dataset up to the order of its records.",
        ),
    ]
    return pd.DataFrame(rows, columns=["erratum", "printed", "computed", "argument"])
