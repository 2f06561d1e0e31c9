"""Check the statements of the slides (SWAP) by exact computation, in swapping_statements.

A row either compares a value with the bound that a statement gives for it, or counts the cases in
which an equality fails. Evidence on a finite number of settings is no proof.

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pandas as pd

from isdp.accounting.distances import hamming, steps_between, symmetric_difference
from isdp.accounting.divergences import multiplicative, normalised_renyi, renyi
from isdp.swapping.mechanism.permutation import Strata, draw_permutation
from isdp.swapping.privacy.bound import epsilon_bound
from reproduction.jobs.statements import Row, build_table, compare, count_failures
from reproduction.swapping.theory.enumeration import (
    output_distribution,
    permutation_distribution,
)

PRINTED_RANGE = (9.37, 19.38)  # of epsilon (SWAP, "Examples from the US Decennial Censuses")
RATES = ("1/20", "1/4", "1/2")
DIVERGENCES = {"MULT": multiplicative, "D_nor": normalised_renyi}
SIGMAS = (1.0, 2.0, 5.0)
ORDERS = (1.0, 1.1, 1.5, 2.0, 4.0, 8.0)  # of the Renyi divergence
N_TRIPLES = 10  # random triples of distributions
KINDS = ("population", "housing units", "group quarters")  # TopDown's invariants in the slides


def tabulate_statements(
    rng: np.random.Generator, printed: pd.DataFrame, table: pd.DataFrame
) -> pd.DataFrame:
    """Check all statements, with one row per statement and setting.

    The slides print the budgets in `printed`, and the dwellings of Massachusetts in `table`.
    """
    return build_table(
        [
            check_printed_range(printed),
            *check_printed_totals(table),
            *measure_gaussian_losses(),
            *check_topdown_privacy(),
            *check_metrics(rng),
            *check_extended_distances(),
            *check_lipschitz(),
            *check_kinds_of_invariants(),
            *check_positive_budget(),
            *check_listing(rng),
            *check_proof(),
        ]
    )


def check_printed_range(printed: pd.DataFrame) -> Row:
    """Compare the smallest and the largest epsilon of 2020 with the printed range."""
    rows = printed[printed["census"].astype(str) == "2020"]
    found = list(map(epsilon_bound, rows["rate"], rows["largest"]))
    ends = zip((min(found), max(found)), PRINTED_RANGE, strict=True)
    holds = [round(epsilon, 2) == end for epsilon, end in ends]
    return count_failures("printed range", "2020, 12 settings", holds)


def check_printed_totals(table: pd.DataFrame) -> Iterator[Row]:
    """Compare the sums of the printed dwellings with the printed totals of the counties."""
    for setting, end in (("before the swap", ""), ("after the swap", "_after")):
        sums = table[f"owned{end}"] + table[f"rented{end}"]
        yield count_failures("printed totals", setting, sums == table[f"total{end}"])
    kept = table["total"] == table["total_after"]
    yield count_failures("printed totals", "before and after the swap", kept)


def gaussian_pmf(points: np.ndarray, sigma: float) -> np.ndarray:
    """Compute the probabilities of discrete Gaussian noise, which add up to 1 over the points."""
    weights = np.exp(-(points**2) / (2 * sigma**2))
    return weights / weights.sum()


def measure_gaussian_losses() -> Iterator[Row]:
    """Compare sqrt(D_alpha / alpha) of discrete Gaussian noise with the distance times the budget.

    D_nor is the maximum over all orders alpha. The orders here avoid the cancellation of digits
    just above 1.
    """
    for sigma in SIGMAS:
        points = np.arange(-int(15 * sigma), int(15 * sigma) + 1)
        losses, bounds = [], []
        for shift, order in product((1, 2, 3), ORDERS):
            pair = gaussian_pmf(points, sigma), gaussian_pmf(points - shift, sigma)
            largest = max(renyi(*pair, order), renyi(*pair[::-1], order))
            losses.append(math.sqrt(largest / order))
            bounds.append(shift / (sigma * math.sqrt(2)))
        yield compare("D_nor of Gaussian noise", f"sigma {sigma:g}", losses, bounds)


def check_topdown_privacy() -> Iterator[Row]:
    """Compare the loss after post-processing with the loss of the noisy measurements.

    Two counts with a fixed total of 4 receive discrete Gaussian noise. The released counts are the
    nearest ones with this total that are not negative, with halves rounded down.
    """
    total = 4
    for sigma in (1.0, 2.0):
        noise = np.arange(-int(10 * sigma), int(10 * sigma) + 1)
        pmf = gaussian_pmf(noise, sigma)
        joint = np.outer(pmf, pmf)
        released = []
        for count in range(total + 1):
            first, second = count + noise[:, None], total - count + noise[None]
            nearest = np.clip((first - second + total) // 2, 0, total)
            released.append(np.bincount(nearest.ravel(), joint.ravel(), minlength=total + 1))
        pairs = list(combinations(range(total + 1), 2))
        losses = [normalised_renyi(released[i], released[j]) for i, j in pairs]
        # a person who changes cell moves both counts by 1
        bounds = [(j - i) * math.sqrt(2) / (sigma * math.sqrt(2)) for i, j in pairs]
        yield compare("TopDown with an invariant", f"sigma {sigma:g}", losses, bounds)


def check_metrics(rng: np.random.Generator) -> Iterator[Row]:
    """Compare the divergence of two distributions with the sum of those from a third one."""
    triples = rng.dirichlet(np.ones(3), (N_TRIPLES, 3))
    for name, divergence in DIVERGENCES.items():
        direct = [divergence(p, r) for p, _, r in triples]
        around = [divergence(p, q) + divergence(q, r) for p, q, r in triples]
        yield compare("divergence is a metric", f"{name}, random", direct, around)
    points = np.arange(-40, 41)
    p, q, r = (gaussian_pmf(points - shift, 2.0) for shift in (0, 1, 3))
    for name, divergence in DIVERGENCES.items():
        around = [divergence(p, q) + divergence(q, r)]
        setting = f"{name}, shifted Gaussian noise"
        yield compare("divergence is a metric", setting, [divergence(p, r)], around)


def check_extended_distances() -> Iterator[Row]:
    """Compare shortest paths between neighbours with the distances, and check the triangles."""
    values = range(3)
    of_size = {n: list(combinations_with_replacement(values, n)) for n in range(4)}

    def replace(data: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for place, value in product(range(len(data)), values):
            yield tuple(sorted((*data[:place], value, *data[place + 1 :])))

    def add_or_remove(data: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        yield from (data[:place] + data[place + 1 :] for place in range(len(data)))
        if len(data) < 3:
            yield from (tuple(sorted((*data, value))) for value in values)

    every = [data for some in of_size.values() for data in some]
    cases = {
        "d_HAM": (hamming, replace, every),
        "d_SymDiff": (symmetric_difference, add_or_remove, every),
    }
    for name, (measure, neighbours, datasets) in cases.items():
        away = {(one, other): measure(one, other) for one, other in product(datasets, repeat=2)}
        holds = [steps_between(*pair, neighbours) == found for pair, found in away.items()]
        yield count_failures("extended distance", name, holds)
        holds = [
            away[one, third] <= away[one, other] + away[other, third]
            for one, other, third in product(datasets, repeat=3)
        ]
        yield count_failures("triangle inequality", name, holds)
    holds = [
        2 * hamming(one, other) == symmetric_difference(one, other)
        for n in of_size
        for one, other in product(of_size[n], repeat=2)
    ]
    yield count_failures("half the symmetric difference", "equal sizes", holds)


def check_lipschitz() -> Iterator[Row]:
    """Compare the loss of two datasets with their distance times the loss of neighbours.

    Two records of three values are released by randomised response, without their order.
    """
    kept = 0.6
    datasets = list(combinations_with_replacement(range(3), 2))
    released = []
    for data in datasets:
        outputs = dict.fromkeys(datasets, 0.0)
        for output in product(range(3), repeat=2):
            chances = (
                kept if x == y else (1 - kept) / 2 for x, y in zip(data, output, strict=True)
            )
            outputs[tuple(sorted(output))] += math.prod(chances)
        released.append(np.array(list(outputs.values())))
    pairs = list(combinations(range(len(datasets)), 2))
    away = [hamming(datasets[i], datasets[j]) for i, j in pairs]
    for name, divergence in DIVERGENCES.items():
        losses = [divergence(released[i], released[j]) for i, j in pairs]
        nearest = max(loss for loss, far in zip(losses, away, strict=True) if far == 1)
        bounds = [far * nearest for far in away]
        yield compare("loss by distance", f"randomised response, {name}", losses, bounds)


def check_kinds_of_invariants() -> Iterator[Row]:
    """Compute D_nor of a release of TopDown's invariants if only some kinds of them agree.

    Two persons, two housing units and two group quarters are each in one of two places. The
    invariants are the numbers in the first place. The other number follows from the sizes of the
    datasets, which agree because their distance is finite.
    """
    datasets = list(product(range(3), repeat=len(KINDS)))
    for number in range(len(KINDS)):
        for kept in combinations(range(len(KINDS)), number):
            losses = [
                _loss_of_invariants(one, other)
                for one, other in product(datasets, repeat=2)
                if all(one[k] == other[k] for k in kept)
                and sum(abs(x - y) for x, y in zip(one, other, strict=True)) == 1
            ]
            setting = " and ".join(KINDS[k] for k in kept) or "no invariant"
            holds = [math.isinf(loss) for loss in losses] or [False]
            yield count_failures("proper subset of kinds", setting, holds)


def _loss_of_invariants(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Compute D_nor of two releases of the invariants with one noisy count."""
    noise = {-1: 0.25, 0: 0.5, 1: 0.25}
    first, second = (
        {(data, sum(data) + shift): chance for shift, chance in noise.items()}
        for data in (one, other)
    )
    outputs = sorted(first.keys() | second.keys())
    pair = (np.array([each.get(output, 0.0) for output in outputs]) for each in (first, second))
    return normalised_renyi(*pair)


def _strata(n: int) -> dict[tuple, list[tuple]]:
    """List the datasets of n records of two counties and two tenures, by their totals."""
    found: dict[tuple, list[tuple]] = {}
    for data in combinations_with_replacement(product(range(2), repeat=2), n):
        found.setdefault(tuple(np.sum(data, axis=0).tolist()), []).append(data)
    return found


def check_positive_budget() -> Iterator[Row]:
    """Check that two different distributions with equal invariants have a positive divergence."""
    rate = "1/4"
    for n in (3, 4):
        holds = []
        for datasets in _strata(n).values():
            released = [
                output_distribution(*zip(*data, strict=True), rate, table=True) for data in datasets
            ]
            for one, other in combinations(released, 2):
                if one != other:
                    outputs = sorted(one.keys() | other.keys())
                    pair = [
                        np.array([float(each.get(x, 0)) for x in outputs]) for each in (one, other)
                    ]
                    holds += [divergence(*pair) > 0 for divergence in DIVERGENCES.values()]
        yield count_failures("positive budget", f"{n} records, swap rate {rate}", holds)


def check_listing(rng: np.random.Generator) -> Iterator[Row]:
    """Compare the listing, step by step, with the distribution on which the bound rests.

    All selections are enumerated. A selection of one record is drawn again, and a stratum of at
    most one record is left as it is.
    """
    for n in range(5):
        for rate in RATES:
            p = Fraction(rate)
            found: Counter = Counter()
            if n <= 1:
                found[tuple(range(n))] = Fraction(1)
            else:
                chances = {
                    some: p ** len(some) * (1 - p) ** (n - len(some))
                    for size in range(n + 1)
                    if size != 1
                    for some in combinations(range(n), size)
                }
                accepted = sum(chances.values())
                for some, chance in chances.items():
                    moved = [
                        order
                        for order in permutations(some)
                        if all(x != y for x, y in zip(some, order, strict=True))
                    ]
                    for order in moved:
                        sigma = dict(zip(some, order, strict=True))
                        whole = tuple(sigma.get(i, i) for i in range(n))
                        found[whole] += chance / accepted / len(moved)
            expected = {k: v for k, v in permutation_distribution(n, rate).items() if v}
            holds = [found[k] == expected.get(k, 0) for k in found.keys() | expected.keys()]
            yield count_failures("listing", f"{n} records, swap rate {rate}", holds)
    drawn = draw_permutation(rng, Strata.from_sizes(np.ones(100, dtype=int)), 0.5)
    holds = drawn == np.arange(100)
    yield count_failures("single records", "100 strata of one record, swap rate 1/2", holds)


def check_proof() -> Iterator[Row]:
    """Check the steps 2, 3, 4 and 6 of the proof on all permutations of a stratum."""
    for n in (2, 3, 4):
        orders = list(permutations(range(n)))
        holds = []
        for datasets in _strata(n).values():
            for one, other in product(datasets, repeat=2):
                swapped, held = zip(*other, strict=True)
                far = hamming(one, other)
                holds.append(
                    any(
                        sum(i != j for i, j in enumerate(order)) == far
                        and Counter(zip((swapped[j] for j in order), held, strict=True))
                        == Counter(one)
                        for order in orders
                    )
                )
        yield count_failures("proof, step 2", f"{n} records", holds)
    for n in (2, 3, 4, 5):
        orders = np.array(list(permutations(range(n))))
        moved = (orders != np.arange(n)).sum(axis=1)
        code = n ** np.arange(n)[::-1]
        place = {number: k for k, number in enumerate((orders @ code).tolist())}
        # number[s, r] is the number of the permutation sigma after rho
        number = np.vectorize(place.__getitem__)(orders[:, orders] @ code)
        one_to_one = (np.sort(number, axis=0) == np.arange(len(orders))[:, None]).all(axis=0)
        yield count_failures("proof, step 3", f"{n} records", one_to_one)
        other = moved[number]
        within = np.abs(other - moved[:, None]) <= moved[None]
        yield count_failures("proof, step 4", f"{n} records", within.ravel())
        for rate in RATES:
            chances = permutation_distribution(n, rate)
            p = np.array([float(chances[tuple(order)]) for order in orders.tolist()])
            odds = float(Fraction(rate) / (1 - Fraction(rate)))
            bounds = np.broadcast_to(((n + 1) / odds) ** moved, other.shape)
            ratios = p[:, None] / p[number]
            real = np.broadcast_to(moved > 0, other.shape)
            setting = f"{n} records, swap rate {rate}"
            yield compare("proof, step 6", setting, ratios[real], bounds[real])
