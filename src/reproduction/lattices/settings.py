"""The block `lattices` of the configuration, and its queries by the rules."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import AfterValidator, Discriminator, Field, Tag

from isdp.errors import InputError
from reproduction.jobs.settings import (
    BOTH,
    OURS,
    PAPER,
    Acceptance,
    Basis,
    Block,
    Chains,
    ConfigError,
    Different,
    Name,
    Norm,
    Positive,
    Probability,
    Whole,
    setting,
)
from reproduction.lattices.entry import build_experiment


def _check_factors(factors: list[float]) -> list[float]:
    if 1 not in factors:
        raise ValueError("must be a list with 1 among its entries")
    return factors


def _entries(key: str, having: type[Block], lacking: type[Block]) -> Any:
    """Make the type of named entries of two types, only one of which has a key."""

    def kind(given: Any) -> str:
        return "(having)" if isinstance(given, dict) and key in given else "(lacking)"

    either = Annotated[lacking, Tag("(lacking)")] | Annotated[having, Tag("(having)")]
    return Annotated[dict[Name, Annotated[either, Discriminator(kind)]], Field(min_length=1)]


class Laplace(Block):
    """A generalized Laplace distribution, with the proposals of the walks that sample it."""

    placeholder: ClassVar[str] = "LAW"
    epsilon: Positive = setting("The privacy loss per unit of the norm.", OURS)
    norm: Norm = setting("The generalized Laplace mechanism with the norm `l1` or `l2`.", PAPER)
    proposal: dict[str, Probability] = setting(
        "The parameter a of the jump lengths for each variant, between 0 and 1.", OURS
    )


class Gaussian(Block):
    """A generalized Gaussian distribution, with the proposals of the walks that sample it."""

    placeholder: ClassVar[str] = "LAW"
    sigma: Positive = setting(
        "The scale of the generalized Gaussian mechanism, in place of epsilon and norm.", OURS
    )
    proposal: dict[str, Probability] = setting(
        "The parameter a of the jump lengths for each variant, between 0 and 1.", OURS
    )


Laws = _entries("sigma", Gaussian, Laplace)
Members = Annotated[dict[str, Annotated[list[int], Field(min_length=1)]], Field(min_length=1)]
LAWS_DESCRIPTION = "The distributions by name. `null` leaves one out."


class Table(Block):
    """A contingency table with fixed margins."""

    placeholder: ClassVar[str] = "NAME"
    axes: Annotated[dict[str, Different[str | int]], Field(min_length=1)] = setting(
        "The axes of a contingency table, each with its categories.", BOTH
    )
    held: Annotated[list[list[str]], Field(min_length=1)] = setting(
        "The fixed margins, each the list of axes that it keeps. `[]` is the grand total.", BOTH
    )
    counts: list = setting(
        "The confidential counts, nested lists in the table's shape (may be left out).",
        PAPER,
        default=None,
    )
    printed: dict[str, list] = setting(
        "Tables of noise to compare with our draws, by distribution (may be left out).",
        PAPER,
        default=None,
    )
    laws: Laws = setting(LAWS_DESCRIPTION)


class Records(Block):
    """Records under constraints."""

    placeholder: ClassVar[str] = "NAME"
    records: Whole = setting("The number of records, in place of a table.", PAPER)
    constraints: Members = setting(
        "The constraints by name, each the list of its records, counted from 1.", OURS
    )
    laws: Laws = setting(LAWS_DESCRIPTION)


Entries = _entries("records", Records, Table)


class Variant(Block):
    """A variant of the walk."""

    placeholder: ClassVar[str] = "VARIANT"
    basis: Basis = setting("The basis, as for the counties.", BOTH)
    acceptance: Acceptance = setting("The acceptance, as for the counties.", BOTH)


class Coupling(Block):
    """Coupled chains."""

    runs: int = setting("The number of independent pairs of chains for each bound.", PAPER, ge=2)
    pilot_runs: int = setting("The number of pairs for each lag that is tried.", OURS, ge=2)
    near_one: float = setting(
        "The lag is doubled until the bound at time 0 is at most this number.", OURS, gt=1
    )
    lag_factors: Annotated[Different[Positive], AfterValidator(_check_factors)] = setting(
        "The lags shown, as multiples of the chosen lag. The number 1 must be among them.", OURS
    )
    cap: int = setting(
        "The number of iterations after which a run is stopped and counted as censored.",
        OURS,
        ge=10,
    )


class Noise(Block):
    """The noise of the lattice experiments."""

    variant: str = setting("The variant of the walk that draws the noise.", OURS)
    chains: Chains = setting("The number of independent chains, from 2 to 100.", OURS)
    draws: int = setting(
        "The number of draws kept from each chain. The paper shows 1000 in all.", BOTH, ge=10
    )


class LatticesSettings(Block):
    """Experiments on integer lattices."""

    experiments: Entries = setting(
        "The experiments by name. An entry of your own goes through the same rules and gives the "
        "same figures and tables under its name. `null` leaves one out."
    )
    variants: dict[Name, Variant] = setting(
        "The variants of the walk that are compared. One of them is named `paper`."
    )
    coupling: Coupling = setting("Coupled chains.")
    noise: Noise = setting("The noise of the lattice experiments.")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError unless each experiment can be built and names the variants."""
        variants, listed = sorted(self.variants), ", ".join(sorted(self.variants))
        if "paper" not in variants:
            raise ConfigError(f"config: lattices.variants: must contain paper, got {listed}")
        for name, entry in self.experiments.items():
            _check_experiment(f"lattices.experiments.{name}", entry, variants)
        if self.noise.variant not in variants:
            raise ConfigError(
                f"config: lattices.noise.variant: must be one of {listed}, got "
                f"{self.noise.variant!r}"
            )


def _check_experiment(key: str, entry: Table | Records, variants: Collection[str]) -> None:
    try:
        experiment = build_experiment(dict(entry))
    except InputError as error:
        raise ConfigError(f"config: {key}: {error}") from None
    for law, settings in entry.laws.items():
        if set(settings.proposal) != set(variants):
            raise ConfigError(
                f"config: {key}.laws.{law}.proposal: must have one number for each of "
                f"{', '.join(variants)}; got {', '.join(settings.proposal) or 'none'}"
            )
    for law, table in (getattr(entry, "printed", None) or {}).items():
        if law not in entry.laws:
            raise ConfigError(
                f"config: {key}.printed.{law}: must be one of the distributions "
                f"{', '.join(entry.laws)}"
            )
        shape = np.asarray(table, dtype=object).shape
        if shape != experiment.shape:
            raise ConfigError(
                f"config: {key}.printed.{law}: must have the shape of the axes, "
                f"{experiment.shape}, got {shape}"
            )


class Experiments(dict):
    """Entries of the lattice experiments by name, with the queries of the rules."""

    def having(self, key: str) -> list[str]:
        """List the experiments whose entry has a key."""
        return [name for name, entry in self.items() if key in entry]

    def pairs(self, key: str = "laws") -> dict[str, list[str]]:
        """List pairs of experiment and distribution, as values of wildcards."""
        found = [(name, law) for name, entry in self.items() for law in entry.get(key, [])]
        return {"experiment": [name for name, _ in found], "law": [law for _, law in found]}

    def lattice_of(self, wildcards) -> dict:
        """Return an experiment without its distributions, whose edits then rerun fewer jobs."""
        entry = self[wildcards.experiment]
        return {key: value for key, value in entry.items() if key not in ("laws", "printed")}
