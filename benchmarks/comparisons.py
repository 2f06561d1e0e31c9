"""What is measured: exact draws, chains and other libraries' samplers, always in turns."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from benchmarks import numpy_algorithm1
from benchmarks.releases import states_by_classes
from benchmarks.timing import medians, row, seconds, seconds_of_program, timed
from isdp import SYSTEM_RANDOMNESS, GeneralizedLaplace, Invariants, draw_noise
from isdp.diagnostics.chains import convergence
from isdp.exact import select_sampler
from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.lattice.null_lattice import kernel_lattice
from isdp.mcmc.metropolis import LatticeWalk, run_chains
from reproduction.congenial.sex_by_age import build_lattice_walk
from reproduction.data.table_p12 import sex_by_age_invariants
from reproduction.lattices.entry import build_experiment, build_mechanism

COUNTIES = {"IL": 102, "TX": 254}
EXACT_BAR, NUMPY_NOISE_BAR, OPENDP_BAR, RELEASE_BAR = 100, 0.5, 30, 60
NOISE_FROM = 1000  # cells from which the bars beside NumPy and of `release` apply
SEVERAL = 50  # totals
CORE_BAR, BLACKJAX_BAR = 50, 1
IMPORT_LIMIT = 0.25  # CPU seconds
# a whole scale favours OpenDP, whose rational numbers stay short
NOISE_SCALE = 4.0
JOINT_COUNTY_PROPOSAL = 0.1  # county_tuning.py's best of those that mix
COUNTY_SWEEPS = 80_000
DRAWS_A_CALL = 10_000  # beyond, the system's giving of fresh memory is what is measured


def noise_norm(walk, noise):
    """Norm of each draw as a further coordinate."""
    return walk.mechanism.noise_norm(noise)[..., None]


def smallest_ess(walk, noise):
    """Effective draws of the slowest cell, or of the norm if that is slower."""
    tables = convergence(noise), convergence(noise_norm(walk, noise))
    return float(min(table["ess_bulk"].min() for table in tables))


@dataclass
class Chains:
    """Chains that have burnt in, and go on from where they stand at each measurement."""

    walk: LatticeWalk
    draws: int
    thin: int
    burn_in: int
    chains: int = 4

    def __post_init__(self):
        self.rng = np.random.default_rng(1)
        run_chains(self.rng, self.walk, n_draws=1, n_chains=1, burn_in=1)  # compiles
        self.states = None

    def sweep(self):
        """Run on; return draws and seconds."""
        if self.states is None:
            settled, _ = run_chains(
                self.rng, self.walk, n_draws=1, n_chains=self.chains, burn_in=self.burn_in
            )
            self.states = settled[:, -1]
        noise, took = timed(self._run)
        self.states = noise[:, -1]
        return noise, took

    def _run(self):
        counts = {"n_draws": self.draws, "n_chains": self.chains, "thin": self.thin, "burn_in": 0}
        return run_chains(self.rng, self.walk, start=self.states, **counts)[0]

    def effective_draws_a_second(self):
        """Measure the smallest effective sample size a second of sampling."""
        noise, took = self.sweep()
        return smallest_ess(self.walk, noise) / took

    def sweeps_a_second(self):
        """Measure sweeps, of one chain, a second."""
        return self.chains * self.draws * self.thin / self.sweep()[1]


def chains_of(walk, settings):
    """Chains as an entry of the config has them."""
    return Chains(walk, *(settings[key] for key in ("draws", "thin", "burn_in", "chains")))


def chains_with_pilot(walk, settings, burn_in=20_000):
    """Thin as `sample_noise` of the lattices does: so many sweeps as an effective draw takes."""
    pilot, _ = run_chains(np.random.default_rng(2), walk, n_draws=2000, burn_in=burn_in)
    thin = max(1, math.ceil(4 * 2000 / smallest_ess(walk, pilot)))
    return Chains(walk, settings["draws"], thin, burn_in, settings["chains"])


def exact_draws_a_second(sampler, least=0.3):
    """Make a measurement of the exact sampler's draws a second; all of them are effective."""
    rng = np.random.default_rng(1)
    sampler.sample(rng, 10)
    draws = max(10, math.ceil(least * 1000 / seconds(lambda: sampler.sample(rng, 1000))))
    calls = math.ceil(draws / DRAWS_A_CALL)
    each = math.ceil(draws / calls)
    return rate_of(calls * each, lambda: [sampler.sample(rng, each).shape for _ in range(calls)])


def exact_against_mcmc(config):
    """Effective draws a second and set-up, on each lattice of the papers."""
    warm_up()
    rows = []
    for setting, set_up, chains, bar in papers_lattices(config):
        sampler, took = timed(set_up)
        rows.append(row("exact set-up", setting, took, math.nan, "s"))
        measures = {name: each.effective_draws_a_second for name, each in chains.items()}
        found = medians({"exact": exact_draws_a_second(sampler), **measures})
        rows += [
            row(
                "exact / MCMC",
                f"{setting}: {name} chain",
                found["exact"],
                found[name],
                "effective draws/s",
                bar,
            )
            for name in chains
        ]
    return rows


def warm_up():
    """Compile what the set-up of the exact samplers takes."""
    table = Invariants.margins((2, 3))
    for mechanism in (GeneralizedLaplace(0.5), GeneralizedLaplace(0.5, "l2")):
        select_sampler(mechanism, table).sample(np.random.default_rng(1), 2)
    TruncatedEliminationSampler(table, GeneralizedLaplace(0.5), lower=-2)


def county_chains(entry, cells):
    """Chains of a state as the config has them."""
    mechanism = GeneralizedLaplace(entry["epsilon"], entry["norm"])
    lattice = kernel_lattice(Invariants.total(cells), entry["basis"])
    walk = LatticeWalk(lattice, mechanism, entry["proposal"], entry["acceptance"])
    return chains_of(walk, entry)


def papers_lattices(config):
    """Yield a name, the exact sampler's set-up, chains by their settings' name, and the bar."""
    entry = config["counties"]
    for state, cells in COUNTIES.items():
        chains = county_chains(entry, cells)
        set_up = partial(select_sampler, Invariants.total(cells), chains.walk.mechanism)
        yield f"counties {state} ({cells})", set_up, {"the config's": chains}, EXACT_BAR
    for name, entry in config["lattices"]["experiments"].items():
        invariants = build_experiment(entry).invariants
        for law, settings in entry["laws"].items():
            mechanism = build_mechanism(settings)
            chains = {
                variant: chains_with_pilot(
                    LatticeWalk(
                        kernel_lattice(invariants, kind["basis"]),
                        mechanism,
                        settings["proposal"][variant],
                        kind["acceptance"],
                    ),
                    config["lattices"]["noise"],
                )
                for variant, kind in config["lattices"]["variants"].items()
            }
            yield f"{name} {law}", partial(select_sampler, invariants, mechanism), chains, math.nan
    yield sex_by_age(config["congenial"]["sex_by_age"])


def sex_by_age(entry):
    """Noise that takes no count below zero: the walk within a polytope, messages within bounds."""
    counts = np.array(entry["counts"]["female"] + entry["counts"]["male"])
    walk = build_lattice_walk(counts, entry["epsilon"], entry["walk"]["proposal"])
    chains = {"the config's": chains_of(walk, entry["walk"])}
    mechanism = GeneralizedLaplace(entry["epsilon"])
    set_up = partial(TruncatedEliminationSampler, sex_by_age_invariants(), mechanism, lower=-counts)
    return "sex by age", set_up, chains, math.nan


def import_row():
    """What `import isdp` adds to the start of Python, against the limit set for it."""
    programs = {"import isdp": "import isdp", "nothing": "pass"}
    found = medians({name: partial(seconds_of_program, text) for name, text in programs.items()})
    ours = max(found["import isdp"] - found["nothing"], 1e-3)  # the clock is no finer
    return row("import / limit", "import isdp", ours, IMPORT_LIMIT, "s", bar=1)


def noise_under_a_total(opendp, most=7):
    """Cells a second under one total, against noise without any constraint.

    Types are the cells of each of 51 states by two classes, whose totals go across the states.

    Returns
    -------
    rows : list of dict
    curves : DataFrame with columns series, x, y
    """
    rows, points = [], []
    for cells in (10**k for k in range(2, most + 1)):
        # where calls are short a few rounds are noise; OpenDP takes seconds for a million cells
        rounds = 9 if cells <= 10**4 else 1 if cells == 10**6 else 3
        found = medians(noise_measures(cells, opendp), repetitions=rounds)
        points += [{"series": name, "x": cells, "y": rate} for name, rate in found.items()]
        rows += noise_rows(cells, found)
    return rows, pd.DataFrame(points).dropna()


def noise_measures(cells, opendp):
    """Measures of cells a second by series, in calls of one draw; together at least 1e6 cells."""
    rng = np.random.default_rng(1)
    invariants, epsilon = Invariants.total(cells), 1 / NOISE_SCALE
    law = GeneralizedLaplace(epsilon)
    p = -math.expm1(-epsilon)
    many = max(1, 10**6 // cells)
    works = {
        "one total": lambda: draw_noise(law, invariants, rng=rng),
        "one total, for release": lambda: draw_noise(
            GeneralizedLaplace(epsilon), invariants, rng=SYSTEM_RANDOMNESS
        ),
        "numpy, unconstrained": lambda: rng.geometric(p, cells) - rng.geometric(p, cells),
    }
    if cells >= NOISE_FROM:
        typed = CellClassSampler(states_by_classes(cells), law)
        several = Invariants.partition(np.arange(cells) * SEVERAL // cells)
        works["types"] = lambda: typed.sample(rng, 1)
        works[f"{SEVERAL} totals, for release"] = lambda: draw_noise(
            GeneralizedLaplace(epsilon), several, rng=SYSTEM_RANDOMNESS
        )
    measures = {
        name: rate_of(many * cells, lambda work=work: [work().size for _ in range(many)])
        for name, work in works.items()
    }
    if cells <= 10**6 and opendp is not None:
        calls = max(1, 10**4 // cells)
        measures["OpenDP, unconstrained"] = lambda: (
            calls * cells / opendp.ask(cells=cells, calls=calls, scale=NOISE_SCALE)["seconds"]
        )
    return measures


def rate_of(units, work):
    """Make a measurement of units a second."""
    return lambda: units / seconds(work)


def noise_rows(cells, found):
    """Rows of the table at one number of cells."""
    name, setting, unit = "under one total", f"{cells:.0e} cells".replace("e+0", "e"), "cells/s"
    numpy_bar, safe_bar = (
        (NUMPY_NOISE_BAR, RELEASE_BAR) if cells >= NOISE_FROM else (math.nan, math.nan)
    )
    free, safe = found["numpy, unconstrained"], found["one total, for release"]
    opendp = found.get("OpenDP, unconstrained", math.nan)
    rows = [
        row(f"{name} / numpy", setting, found["one total"], free, unit, numpy_bar),
        row(f"{name}, release / numpy", setting, safe, free, unit, numpy_bar),
    ]
    if "types" in found:
        rows.append(row("types / numpy", setting, found["types"], free, unit, numpy_bar))
    if cells <= 10**6:
        bar = OPENDP_BAR if cells == 10**5 else math.nan
        rows.append(row(f"{name} / OpenDP", setting, found["one total"], opendp, unit, bar))
        rows.append(row(f"{name}, release / OpenDP", setting, safe, opendp, unit, safe_bar))
        if cells >= NOISE_FROM:
            name = f"under {SEVERAL} totals, release / OpenDP"
            several = found[f"{SEVERAL} totals, for release"]
            rows.append(row(name, setting, several, opendp, unit, safe_bar))
    return rows


def joint_walks(config):
    """The paper's Algorithm 1 for l1 by a lattice's name: the walk, and sweeps between draws."""
    paper = config["lattices"]["variants"]["paper"]
    walks = {}
    for name, thin in (("contingency", 40), ("intersecting", 100)):
        entry = config["lattices"]["experiments"][name]
        law = entry["laws"]["l1"]
        lattice = kernel_lattice(build_experiment(entry).invariants, paper["basis"])
        a = law["proposal"]["paper"]
        walks[f"{name} l1"] = LatticeWalk(lattice, build_mechanism(law), a, "joint"), thin
    mechanism = GeneralizedLaplace(config["counties"]["epsilon"])
    for state, cells in COUNTIES.items():
        lattice = kernel_lattice(Invariants.total(cells))
        walk = LatticeWalk(lattice, mechanism, JOINT_COUNTY_PROPOSAL, "joint")
        walks[f"counties {state} ({cells})"] = walk, 100
    return walks


def core_against_numpy(config, sweeps=1000):
    """Sweeps a second of Algorithm 1, compiled, in NumPy as it is stated, and vectorised."""
    rows = []
    for setting, (walk, thin) in joint_walks(config).items():
        ours = Chains(walk, draws=300, thin=thin, burn_in=0)
        arguments = walk.lattice.basis, walk.mechanism.epsilon, walk.proposal, sweeps // thin, thin
        ways = {"stated": numpy_algorithm1.run, "vectorised": numpy_algorithm1.run_vectorised}
        measures = {
            name: rate_of(sweeps, partial(way, np.random.default_rng(1), *arguments))
            for name, way in ways.items()
        }
        found = medians({"ours": ours.sweeps_a_second, **measures})
        for name, way, bar in (
            ("core / NumPy", "stated", CORE_BAR),
            ("core / vectorised NumPy", "vectorised", math.nan),
        ):
            rows.append(row(name, setting, found["ours"], found[way], "sweeps/s", bar))
    return rows


def core_against_blackjax(config, blackjax):
    """Algorithm 1 compiled by us and by JAX, with 4 chains and with 64 side by side."""
    rows = []
    for setting, (walk, thin) in joint_walks(config).items():
        if setting.startswith("counties"):
            rows += counties_against_blackjax(config, blackjax, setting, walk, thin)
            continue
        for chains, draws in ((4, 500), (64, 100)):
            unit = "effective draws/s"
            ours = Chains(walk, draws=500, thin=thin, burn_in=500 * thin)
            peer = blackjax_measure(blackjax, setting, walk, (chains, draws, thin), unit)
            found = medians({"ours": ours.effective_draws_a_second, "peer": peer}, repetitions=3)
            name = f"{setting}, {chains} chains"
            rows.append(
                row("core / blackjax", name, found["ours"], found["peer"], unit, BLACKJAX_BAR)
            )
    return rows


def counties_against_blackjax(config, blackjax, setting, walk, thin):
    """Sweeps of the same walk, and effective draws of the config's chains on the same target.

    blackjax would take minutes for a hundred effective draws. Its walk is ours, so its sweeps are
    worth what ours are, which is measured with our core.
    """
    best = county_chains(config["counties"], walk.lattice.basis.shape[0])
    long = Chains(walk, draws=500, thin=1000, burn_in=100_000)
    noise, _ = long.sweep()
    worth = smallest_ess(walk, noise) / (long.chains * long.draws * long.thin)
    rows = []
    for chains in (4, 64):
        ours = Chains(walk, draws=500, thin=thin, burn_in=500 * thin)
        run = chains, COUNTY_SWEEPS // (chains * thin), thin
        measures = {
            "same": ours.sweeps_a_second,
            "peer": blackjax_measure(blackjax, setting, walk, run, "sweeps/s"),
            "best": best.effective_draws_a_second,
        }
        found = medians(measures, repetitions=3)
        name, peer = f"{setting}, {chains} chains", found["peer"]
        rows += [
            row("core / blackjax", name, found["same"], peer, "sweeps/s"),
            row(
                "the config's chain / blackjax",
                name,
                found["best"],
                worth * peer,
                "effective draws/s",
                BLACKJAX_BAR,
            ),
        ]
    return rows


def blackjax_measure(blackjax, setting, walk, run, unit):
    """Make a measurement of blackjax; nan without it."""
    chains, draws, thin = run

    def measure():
        if blackjax is None:
            return math.nan
        answer = blackjax.ask(
            name=f"{setting}, {chains}",
            basis=walk.lattice.basis.tolist(),
            epsilon=walk.mechanism.epsilon,
            proposal=walk.proposal,
            chains=chains,
            draws=draws,
            thin=thin,
        )
        noise = np.array(answer["draws"])
        walk.check(noise)
        if unit == "sweeps/s":
            return chains * draws * thin / answer["seconds"]
        return smallest_ess(walk, noise) / answer["seconds"]

    return measure
